import Platform

/// A folder for this user alone, under a name that nobody can guess.
struct TemporaryFolder {
  let path: String

  init() throws {
    let parent = ProcessEnvironment.variables["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
    var template = Array("\(parent)/apns-emulator-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw CommandFailure("can't make a folder in \(parent): \(String(cString: strerror(errno)))")
    }
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// Removes the folder, which must be empty but for a ports file that was left.
  func remove() {
    unlink(path + "/ports.json")
    rmdir(path)
  }
}
