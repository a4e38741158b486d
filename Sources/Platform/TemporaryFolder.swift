import CLibrary

/// A new folder for this user alone, under a name that nobody can guess.
public struct TemporaryFolder: Sendable {
  /// Where POSIX has temporary files if `TMPDIR` does not say (XBD 10.1, Directory Structure).
  private static let standardParent = "/tmp"
  /// What mkdtemp(3) puts letters in the place of that nobody can guess.
  private static let placeholder = String(repeating: "X", count: 6)

  /// Without a slash at the end.
  public let path: String

  /// In `parent`; without one, where this user has temporary files.
  public init(in parent: String? = nil) throws(SocketError) {
    let named = parent ?? ProcessEnvironment.variables["TMPDIR"] ?? ""
    let parent = named.isEmpty ? Self.standardParent : named
    var template = Array("\(parent)/apns-emulator-\(Self.placeholder)".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw SocketError.last("make a folder", parent) }
    path = String(characters: template)
  }

  /// Removes it with all that is in it, links and not what they lead to; what can't be removed stays.
  public func remove() { Self.removeAll(path) }

  private static func removeAll(_ path: String) {
    // What is no folder goes at once.
    guard !PathCalls.remove(path) else { return }
    for name in FolderNames.read(path) { removeAll("\(path)/\(name)") }
    PathCalls.removeFolder(path)
  }
}
