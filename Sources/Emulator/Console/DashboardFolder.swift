import Dashboard
import Platform

/// The dashboard's files from a folder, for work on them (`--dashboard`): read at each request, so that a reload of the page
/// shows a change. Only files that the binary has too, so no request leads out of the folder.
struct DashboardFolder {
  /// Most bytes of a file: many times the largest, and read in well under a turn of the loop.
  private static let fileLimit = 1 << 20

  let path: String

  /// Throws for the first file that can't be read.
  func check() throws {
    do {
      for name in WebFile.names { _ = try file(name) }
    } catch {
      throw EmulatorError(
        .failed, "--dashboard expects a folder with the files of Sources/Dashboard/Web: \(error)")
    }
  }

  /// The file of that name; nil if the dashboard has none.
  func file(_ name: String) throws -> WebFile? {
    guard let embedded = WebFile(named: name) else { return nil }
    let bytes = try TextFile.readPlain("\(path)/\(name)", limit: Self.fileLimit)
    return WebFile(contentType: embedded.contentType, text: String(decoding: bytes, as: UTF8.self))
  }
}
