/// One command as it lies in somebody else's memory: valid until the decoder that lent it is called again.
@frozen
public struct CourierFrame {
  /// The command byte, known or not.
  public let commandByte: UInt8
  /// Everything after command byte and length.
  public let body: UnsafeRawBufferPointer

  @inlinable
  public init(commandByte: UInt8, body: UnsafeRawBufferPointer) {
    self.commandByte = commandByte
    self.body = body
  }

  /// The command, or nil for one that is to be skipped.
  @inlinable public var command: CourierCommand? { CourierCommand(rawValue: commandByte) }

  /// A cursor over the items, in the order in which they were sent.
  @inlinable public var items: CourierItemCursor { CourierItemCursor(self) }
}
