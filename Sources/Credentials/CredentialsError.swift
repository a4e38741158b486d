/// Why key material could not be loaded, made or used. The sentence names the file or value, never its secret content.
public struct CredentialsError: Error, Equatable, CustomStringConvertible {
  /// What kind of trouble it is; two errors are equal when this is.
  public enum Code: Sendable {
    /// A file or folder is there but can't be read.
    case unreadable
    /// A file or folder can't be written.
    case unwritable
    /// The content is not what its name promises.
    case malformed
    /// The certificate's time is over or has not come.
    case expired
    /// Two files that belong together do not fit, or one of them is missing.
    case mismatched
    /// It is there already and is not replaced.
    case exists
    /// The request makes no sense: no topic, a key that is too short.
    case unsuitable
    /// OpenSSL refused.
    case cryptography
  }

  public let code: Code
  /// A lower-case sentence without a full stop.
  public let message: String

  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  public var description: String { message }

  public static func == (left: CredentialsError, right: CredentialsError) -> Bool { left.code == right.code }
}
