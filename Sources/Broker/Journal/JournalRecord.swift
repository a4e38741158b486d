import PushModel

/// What is remembered of one notification. Plain bytes; its frame or body lies in `raw`.
///
/// One is written for each push, so it pays to be small: the fields stand in an order that leaves no gaps.
public struct JournalRecord: BitwiseCopyable {
  /// Counts all notifications of this run, from 1.
  public var id: UInt64
  public var receivedAt: Timestamp
  /// The same by the monotonic clock, in nanoseconds: for durations.
  var arrivedAt: Int64
  public internal(set) var storedAt: Timestamp
  public internal(set) var sentAt: Timestamp
  /// When the state became final.
  public internal(set) var endedAt: Timestamp
  var box: ByteBox
  /// `apns-id` of the answer; nil on the binary interface.
  public var messageID: MessageID?
  public var interface: Interface
  /// Command of the binary interface; 0 elsewhere.
  public var command: UInt8
  public var environment: Environment
  public var pushType: PushType
  public var priority: Priority
  /// nil means accepted.
  public var rejection: Rejection?
  public internal(set) var state: NotificationState
  /// UNIX seconds as sent; nil if the provider sent none.
  public var expiration: UInt32?
  /// Deleted one by one: nobody is shown it, while others may still have to see it.
  public internal(set) var isHidden = false
  /// Identifier of the binary interface; 0 elsewhere.
  public var identifier: UInt32
  /// Row of the token map, -1 if the token is unknown.
  public var registration: Int32
  /// The topic pushed to, -1 if none is known.
  public var topic: Int32
  /// Connection and authorization that it came with, for whoever numbers them; 0 for none.
  public var connection: UInt32
  public var credential: UInt32
  /// Where token and payload lie in `raw`, in bytes.
  var tokenStart, tokenCount, payloadStart, payloadCount, fieldsCount: UInt32

  /// The frame as it came (gateway), or token, body and header fields one after the other.
  public var raw: UnsafeRawBufferPointer { box.bytes }
  /// The token as presented; may have any length.
  public var presentedToken: UnsafeRawBufferPointer { part(tokenStart, tokenCount) }
  public var payload: UnsafeRawBufferPointer { part(payloadStart, payloadCount) }
  /// Request header fields as a `FieldBlock`.
  public var fieldBlock: UnsafeRawBufferPointer { part(payloadStart &+ payloadCount, fieldsCount) }
  /// Request header fields in order; none on the binary interface. Authorization is never among them.
  public var fields: [(name: String, value: String)] {
    FieldBlock.read(fieldBlock)
  }

  private func part(_ start: UInt32, _ count: UInt32) -> UnsafeRawBufferPointer {
    let whole = box.bytes
    guard Int(start) + Int(count) <= whole.count else { return UnsafeRawBufferPointer(start: nil, count: 0) }
    return UnsafeRawBufferPointer(rebasing: whole[Int(start)..<Int(start) + Int(count)])
  }
}
