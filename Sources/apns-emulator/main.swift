import Commands
import Platform

exit(Program.run(ProcessArguments.words))
