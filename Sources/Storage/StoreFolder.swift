import Platform

/// The folder that the store lies in.
enum StoreFolder {
  /// For this user alone: the folder also holds the token secret.
  static let mode: FileMode = 0o700

  /// Makes the folder of `file` and those above it, where missing.
  static func make(for file: String) throws(StoreError) {
    guard let slash = file.lastIndex(of: "/"), slash != file.startIndex else { return }
    let folder = String(file[..<slash])
    var outcome = PathCalls.makeFolder(folder, mode)
    if outcome == .noParent {
      try make(for: folder)
      outcome = PathCalls.makeFolder(folder, mode)
    }
    guard outcome == .made || outcome == .isThere else {
      throw StoreError(
        code: .notWritable,
        sentence: "can't make the folder \(folder): \(SocketCalls.sentence(SocketCalls.lastError))")
    }
  }

  /// Makes an empty file for this user alone where there is none: SQLite would let everybody read it, and its log with it, and tokens
  /// are not for others, whatever the folder allows.
  static func makeFile(_ file: String) { _ = try? OpenFile(making: file) }
}

/// Why the store can't be used, or could not keep what it was given.
public struct StoreError: Error, Equatable, CustomStringConvertible, Sendable {
  /// What callers may tell apart.
  public enum Code: Sendable {
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

  public var code: Code
  /// One English sentence in lower case, with the file's name.
  public var sentence: String

  public var description: String { sentence }

  public static func == (left: StoreError, right: StoreError) -> Bool { left.code == right.code }
}
