import Commands
import Platform

ProcessStatus.exit(Program.run(ProcessArguments.words))
