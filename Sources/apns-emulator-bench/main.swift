import Commands
import Platform

exit(Program.run(["bench"] + ProcessArguments.words, BenchmarkCommands.table))
