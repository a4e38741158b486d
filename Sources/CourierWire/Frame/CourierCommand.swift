/// The commands of the device protocol (`Documentation/device-protocol.md#commands`).
///
/// Bytes that are not listed here are read by their length and skipped.
@frozen
public enum CourierCommand: UInt8, Sendable, CaseIterable {
  /// Device: who I am, with certificate and signed nonce.
  case connect = 0x07
  /// Server: answer to connect.
  case connected = 0x08
  /// Device: the topics it wants, replacing what it said before.
  case filter = 0x09
  /// Either: a notification.
  case message = 0x0a
  /// Either: receipt of a notification.
  case acknowledgement = 0x0b
  /// Device: are you there?
  case keepAlive = 0x0c
  /// Server: yes.
  case keepAliveAnswer = 0x0d
  /// Server: nothing (more) is stored for this token.
  case noStorage = 0x0e
  /// Server: padding probe. Never sent here.
  case flush = 0x0f
  /// Device: answer to the padding probe.
  case flushAnswer = 0x10
  /// Device: a token for one topic, please.
  case appTokenRequest = 0x11
  /// Server: that token.
  case appTokenResponse = 0x12
  /// Device: accepted and ignored.
  case setActiveInterval = 0x13
  /// Device: whether it is in use.
  case setState = 0x14
  /// Either: channel subscription and its confirmation.
  case channels = 0x1d
  /// Server, private to this emulator: something happened to an app on the simulated phone. Only sent to a client
  /// whose connect carried `CourierItem.Connect.simulatedDevice`; any other client would skip it.
  case appState = 0x70
  /// Server, private: what a person does to the simulated phone, or the emulator's clock. Only sent to a client whose
  /// connect says that it has a phone.
  case phoneOrder = 0x71
  /// Device, private: what has happened on the simulated phone, and how it is now. From a client without one it is
  /// skipped.
  case phoneReport = 0x72
}

/// A command with a meaning: read from a frame, written as one.
public protocol CourierCommandValue: Equatable, Sendable {
  /// The command byte of its frames.
  static var command: CourierCommand { get }

  /// Reads the items of `frame`, whose command byte has been looked at already. Unknown items are skipped.
  init(_ frame: CourierFrame) throws(CourierProtocolError)

  /// The whole frame behind the bytes of `output`.
  func encoded(after output: consuming [UInt8]) -> [UInt8]
}

extension CourierCommandValue {
  /// The whole frame.
  public var encoded: [UInt8] { encoded(after: []) }

  /// Appends the whole frame to `output`.
  public func append(to output: inout [UInt8]) {
    output = encoded(after: consume output)
  }

  /// An item that cannot be left out.
  static func require<Value>(
    _ value: Value?, _ id: some RawRepresentable<UInt8>
  ) throws(CourierProtocolError) -> Value {
    guard let value else { throw .itemMissing(command: command, item: id.rawValue) }
    return value
  }
}
