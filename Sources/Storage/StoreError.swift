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
