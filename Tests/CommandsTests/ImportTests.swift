import Foundation
import Testing

/// Who may name what belongs to the operating system.
@Suite struct ImportTests {
  private static let sources = URL(filePath: #filePath).appending(path: "../../../Sources").standardized

  /// Lines that import a C library of the system, or Foundation, which brings it along; by file.
  private static func imports() throws -> [(path: String, line: String)] {
    let library = /\bimport\s+(\w+\s+)?(Glibc|Musl|Darwin|Dispatch|Foundation\w*|CoreFoundation)\b/
    let files = try #require(FileManager.default.enumerator(atPath: sources.path)).compactMap {
      $0 as? String
    }
    return try files.filter { $0.hasSuffix(".swift") }.flatMap { path in
      try String(contentsOf: sources.appending(path: path), encoding: .utf8).split(separator: "\n")
        .filter { $0.contains(library) && !$0.contains("//") }.map { (path, String($0)) }
    }
  }

  @Test("Only Platform names the C library; Foundation is for users of the library for tests")
  func platform() throws {
    let imports = try Self.imports()
    for (path, line) in imports where !path.hasPrefix("Platform/") {
      #expect(path.hasPrefix("APNSEmulatorTesting/") && line.contains("Foundation"), "\(path): \(line)")
    }
    #expect(imports.contains { $0.path == "Platform/Platform.swift" && $0.line.contains("Glibc") })
  }
}
