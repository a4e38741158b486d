import Commands
import Platform

exit(Program.run(Array(CommandLine.arguments.dropFirst())))
