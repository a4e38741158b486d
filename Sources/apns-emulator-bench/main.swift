import Commands
import Platform

ProcessStatus.exit(Program.run(["bench"] + ProcessArguments.words, BenchmarkCommands.table))
