import Foundation
import TestSupport

/// The Swift compiler, with the modules that were built along with these tests: it looks a source over, and makes nothing of it.
struct SwiftCompiler {
  /// What it said of a source.
  struct Verdict {
    /// Why it can't be compiled, each with its place; empty for one that can.
    let errors: [String]
    let status: Int32
    /// Everything, to be shown where something else was expected.
    let output: String
  }

  struct NotFound: Error, CustomStringConvertible {
    let description = "there is no swiftc in PATH to compile snippets with"
  }

  private let path: String
  private let modules: String
  private let folder = ScratchFolder()

  init() throws {
    guard let path = ForeignProgram.find("swiftc") else { throw NotFound() }
    self.path = path
    modules = try BuiltProgram.products() + "/Modules"
    // Our modules ask for these libraries in C, of which none of our declarations show anything: there need be no headers.
    let libraries = ["CArguments", "CExpat", "CLibevent", "CNghttp2", "COpenSSL", "CSQLite"]
    try folder.write(libraries.map { "module \($0) {}\n" }.joined(), to: "module.modulemap")
  }

  /// As a user of our modules in this package would compile it. What is lent is followed through a function once that has become SIL.
  func check(_ source: String, conditions: [String] = []) throws -> Verdict {
    try folder.write(source, to: "Snippet.swift")
    let arguments = [
      "-emit-sil", "-o", "/dev/null", "-parse-as-library", "-module-name", "Snippet", "-swift-version", "6",
      "-enable-experimental-feature", "Lifetimes", "-package-name", Self.package, "-diagnostic-style", "llvm",
      "-module-cache-path", folder.file("cache"), "-I", folder.path, "-I", modules,
    ]
    let result = try ForeignProgram.run(
      path, arguments + conditions.flatMap { ["-D", $0] } + [folder.file("Snippet.swift")])
    let errors = result.output.split(separator: "\n").filter { $0.contains("error: ") }.map(String.init)
    return Verdict(errors: errors, status: result.status, output: result.output)
  }

  /// The name that SwiftPM gives this package: that of its folder, as an identifier.
  private static let package = String(
    URL(filePath: #filePath).appending(path: "../../../..").standardizedFileURL.lastPathComponent.lowercased()
      .map { $0.isLetter || $0.isNumber ? $0 : "_" })
}
