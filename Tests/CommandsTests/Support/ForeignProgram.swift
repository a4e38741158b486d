import Foundation

/// Other programs, run to their end.
enum ForeignProgram {
  struct Result {
    var status: Int32
    /// Standard output and standard error together.
    var output: String
  }

  /// Where `name` is installed; nil if it is not.
  static func find(_ name: String) -> String? {
    (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map { "\($0)/\(name)" }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  static func run(
    _ path: String, _ arguments: [String], input: String = "", environment: [String: String] = [:],
    folder: URL? = nil
  ) throws -> Result {
    let process = Process()
    process.executableURL = URL(filePath: path)
    process.arguments = arguments
    process.currentDirectoryURL = folder
    process.environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("APNS_EMULATOR_") }
      .merging(environment) { $1 }
    let (stdin, stdout) = (Pipe(), Pipe())
    (process.standardInput, process.standardOutput, process.standardError) = (stdin, stdout, stdout)
    try process.run()
    try stdin.fileHandleForWriting.write(contentsOf: Data(input.utf8))
    try stdin.fileHandleForWriting.close()
    let output = try stdout.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    let isSignal = process.terminationReason == .uncaughtSignal
    return Result(
      status: process.terminationStatus + (isSignal ? 128 : 0),
      output: String(decoding: output, as: UTF8.self))
  }
}
