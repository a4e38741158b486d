import Platform

/// `bench`: measurements with a reference in the same run (`Documentation/speed.md`), by a program of its own that gets the words as
/// they are.
enum BenchCommand {
  private static let program = "apns-emulator-bench"

  static func run(_ settings: Settings) throws -> ExitStatus {
    guard let path = OwnProgram.beside(program) else {
      throw CommandFailure(
        "bench is a program of its own, \(program), and \(OwnProgram.folder) has none; packages come without it, and in a clone "
          + "of the repository make bench builds and runs it")
    }
    throw CommandFailure("\(OwnProgram.become(path, settings.foreign))")
  }
}
