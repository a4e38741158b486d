import Platform

/// The folder that the store lies in.
enum StoreFolder {
  /// For this user alone: the folder also holds the token secret.
  static let mode: mode_t = 0o700
  /// Tokens are not for others either, whatever the folder allows.
  static let fileMode: mode_t = 0o600

  /// Makes the folder of `file` and those above it, where missing.
  static func make(for file: String) throws(StoreError) {
    guard let slash = file.lastIndex(of: "/"), slash != file.startIndex else { return }
    let folder = String(file[..<slash])
    if mkdir(folder, mode) == 0 || errno == EEXIST { return }
    guard errno == ENOENT else { throw refused(folder) }
    try make(for: folder)
    guard mkdir(folder, mode) == 0 || errno == EEXIST else { throw refused(folder) }
  }

  /// Makes an empty file where there is none: SQLite would let everybody read it, and its log with it.
  static func makeFile(_ file: String) {
    let descriptor = open(file, O_RDWR | O_CREAT | O_EXCL, fileMode)
    if descriptor >= 0 { close(descriptor) }
  }

  private static func refused(_ folder: String) -> StoreError {
    StoreError(
      code: .notWritable, sentence: "can't make the folder \(folder): \(SocketCalls.sentence(errno))")
  }
}

/// Why the store can't be used, or could not keep what it was given.
package struct StoreError: Error, Equatable, CustomStringConvertible, Sendable {
  /// What callers may tell apart.
  package enum Code: Sendable {
    /// The folder or the file can't be made, opened or written.
    case notWritable
    /// Another process has the store open.
    case inUse
    /// The file is something else.
    case notADatabase
    /// A newer version of this program wrote the file.
    case newerVersion
    /// Rows don't fit together, or SQLite says that the file is damaged.
    case damaged
    /// The disk is full.
    case full
    /// Anything else that SQLite reports.
    case failed
  }

  package var code: Code
  /// One English sentence in lower case, with the file's name.
  package var sentence: String

  package var description: String { sentence }

  package static func == (left: StoreError, right: StoreError) -> Bool { left.code == right.code }
}
