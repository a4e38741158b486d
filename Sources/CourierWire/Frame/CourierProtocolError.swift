/// A peer broke the rules of the device protocol. It carries no bytes of the peer beyond ids and lengths.
public struct CourierProtocolError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What kind of rule was broken; errors are equal when their codes are.
  public enum Code: Sendable, Hashable {
    /// A frame announces more than the limit of its connection.
    case frameTooLong
    /// An item ends outside its frame.
    case itemOverrun
    /// An item of fixed width has another one, or its value cannot be read.
    case itemMalformed
    /// An item without which the command means nothing is absent.
    case itemMissing
  }

  public let code: Code
  /// A lower-case sentence with the offending value.
  public let description: String

  public init(_ code: Code, _ description: String) {
    self.code = code
    self.description = description
  }

  public static func == (left: CourierProtocolError, right: CourierProtocolError) -> Bool {
    left.code == right.code
  }

  public static func frameTooLong(command: UInt8, length: Int, limit: Int) -> CourierProtocolError {
    CourierProtocolError(
      .frameTooLong, "command \(command) announces \(length) bytes, more than the \(limit) allowed")
  }

  public static func itemOverrun(command: UInt8, remaining: Int) -> CourierProtocolError {
    CourierProtocolError(
      .itemOverrun, "command \(command) has an item that does not fit its last \(remaining) bytes")
  }

  public static func itemMalformed(_ id: UInt8, length: Int) -> CourierProtocolError {
    CourierProtocolError(.itemMalformed, "item \(id) of \(length) bytes cannot be read")
  }

  public static func itemMissing(command: CourierCommand, item: UInt8) -> CourierProtocolError {
    CourierProtocolError(.itemMissing, "command \(command.rawValue) lacks item \(item)")
  }
}
