import PushModel

/// One notification as a provider framed it. Token, payload and frame are lent by the decoder for the call.
@frozen
public struct LegacyNotification {
  public var command: LegacyCommand
  /// The provider's four bytes read as a big-endian number; 0 where it sent none.
  public var identifier: UInt32
  /// UNIX seconds; nil where the provider sent none, 0 for "do not store".
  public var expiration: UInt32?
  public var priority: Priority
  /// nil where item 1 is absent.
  public var token: UnsafeRawBufferPointer?
  /// nil where item 2 is absent.
  public var payload: UnsafeRawBufferPointer?
  /// The whole frame, from its command byte.
  public var frame: UnsafeRawBufferPointer

  @inlinable
  init(command: LegacyCommand, frame: UnsafeRawBufferPointer) {
    self.command = command
    self.frame = frame
    identifier = 0
    priority = .immediate
  }
}
