/// Why a device could not be activated. The sentence goes to the device, between `<b>` and `</b>`.
public struct ActivationError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The side that has to change something; errors are equal when their codes are.
  @frozen
  public enum Code: Sendable, Hashable {
    /// The form has no activation information, or it cannot be read.
    case unreadableRequest
    /// The request lacks something, or it is of no use.
    case incompleteRequest
    /// The server said no.
    case refused
    /// The answer holds neither a certificate nor a reason.
    case unreadableAnswer
  }

  public let code: Code
  /// A lower-case sentence.
  public let description: String

  public init(_ code: Code, _ description: String) {
    self.code = code
    self.description = description
  }

  public static func == (left: ActivationError, right: ActivationError) -> Bool { left.code == right.code }
}
