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
