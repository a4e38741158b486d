import CLibrary

/// A socket operation that the system refused.
public struct SocketError: Error, CustomStringConvertible, Sendable {
  /// What was tried: `bind`, `connect`, …
  public var operation: String
  public var address: String
  public var sentence: String
  /// The system's error number, 0 where there is none.
  public var code: Int32

  public init(operation: String, address: String, sentence: String, code: Int32 = 0) {
    (self.operation, self.address, self.sentence, self.code) = (operation, address, sentence, code)
  }

  /// Takes the number and sentence of the last failed call.
  public static func last(_ operation: String, _ address: String) -> SocketError {
    let code = SocketCalls.lastError
    return SocketError(
      operation: operation, address: address, sentence: SocketCalls.sentence(code), code: code)
  }

  /// Whether somebody else already listens there.
  public var isAddressInUse: Bool { code == EADDRINUSE }

  public var description: String { "can't \(operation) \(address): \(sentence)" }
}
