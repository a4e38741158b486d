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
  /// `apns-id` of the answer; nil on the binary protocol.
  public var apnsID: APNSID?
  public var interface: Interface
  /// Command of the binary protocol; 0 elsewhere.
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
  public internal(set) var isHidden: Bool
  /// Identifier of the binary protocol; 0 elsewhere.
  public var identifier: UInt32
  /// Row of the token map, if the token is known.
  @Packed public internal(set) var registration: RegistrationID?
  /// The topic pushed to, if one is known.
  @Packed public var topic: TopicID?
  /// Connection and authorization that it came with, for whoever numbers them; 0 for none.
  public var connection: UInt32
  public var credential: UInt32
  /// Where token and payload lie in `raw`, in bytes.
  var tokenStart, tokenCount, payloadStart, payloadCount, fieldsCount: UInt32

  /// Becomes that of a notification that has just come, whatever it was. Copies the frame, or token, body and header fields,
  /// into `memory`.
  ///
  /// Writes each field in its place: a record that is made elsewhere first is copied for each push, which was 7 % of all
  /// instructions of a push that is kept.
  @inline(__always)
  mutating func begin(
    id: UInt64, _ submission: PlainSubmission, _ memory: ByteBox, registration: RegistrationID?,
    rejection: Rejection?, now: Timestamp, arrivedAt: Int64
  ) {
    (self.id, receivedAt, self.arrivedAt) = (id, now, arrivedAt)
    (storedAt, sentAt, endedAt) = (.never, .never, rejection == nil ? .never : now)
    (apnsID, interface, command) = (submission.apnsID, submission.interface, submission.command)
    (environment, priority) = (submission.environment, submission.priority)
    // What Apple takes it for where the provider says nothing.
    pushType = submission.pushType ?? .alert
    (self.rejection, state) = (rejection, rejection == nil ? .discarded : .rejected)
    (expiration, identifier, isHidden) = (submission.expiration, submission.identifier, false)
    _registration = Packed(wrappedValue: registration)
    _topic = Packed(wrappedValue: submission.topic)
    (connection, credential) = (submission.connection, submission.credential)
    box = memory
    if let frame = submission.frame.baseAddress {
      box.assign(submission.frame)
      tokenStart = Self.offset(submission.token, in: frame)
      payloadStart = Self.offset(submission.payload, in: frame)
    } else {
      box.assign(submission.token, submission.payload, submission.fields)
      (tokenStart, payloadStart) = (0, UInt32(truncatingIfNeeded: submission.token.count))
    }
    tokenCount = UInt32(truncatingIfNeeded: submission.token.count)
    payloadCount = UInt32(truncatingIfNeeded: submission.payload.count)
    fieldsCount = UInt32(truncatingIfNeeded: submission.fields.count)
  }

  /// What `kept` has no room for of one that was refused: a part of `raw`.
  func excess(over kept: KeptOfRefused) -> Range<Int>? {
    // A frame, or the like of one, ends with what matters least; behind the body of a request are its header fields.
    let start = fieldsCount == 0 ? kept.frame : Int(payloadStart) + kept.body
    let end = fieldsCount == 0 ? box.bytes.count : Int(payloadStart) + Int(payloadCount)
    return start < end ? start..<end : nil
  }

  /// Takes a part out of `raw` that `excess` has found.
  mutating func cut(_ part: Range<Int>) {
    box.remove(part)
    if fieldsCount > 0 { payloadCount -= UInt32(truncatingIfNeeded: part.count) }
    tokenCount = Self.shortened(tokenStart, tokenCount, to: box.count)
    payloadCount = Self.shortened(payloadStart, payloadCount, to: box.count)
  }

  private static func shortened(_ start: UInt32, _ count: UInt32, to end: UInt32) -> UInt32 {
    start < end ? min(count, end - start) : 0
  }

  @inline(__always)
  private static func offset(_ part: UnsafeRawBufferPointer, in frame: UnsafeRawPointer) -> UInt32 {
    part.baseAddress.map { UInt32(truncatingIfNeeded: $0 - frame) } ?? 0
  }

  /// The frame as it came (gateway), or token, body and header fields one after the other.
  public var raw: UnsafeRawBufferPointer { box.bytes }
  /// What people are shown as it came: the frame, or the body alone.
  public var shownBytes: UnsafeRawBufferPointer { interface == .gateway ? raw : payload }
  /// The token as presented; may have any length.
  public var presentedToken: UnsafeRawBufferPointer { part(tokenStart, tokenCount) }
  public var payload: UnsafeRawBufferPointer { part(payloadStart, payloadCount) }
  /// Request header fields as a `FieldBlock`.
  public var fieldBlock: UnsafeRawBufferPointer { part(payloadStart &+ payloadCount, fieldsCount) }
  /// Request header fields in order; none on the binary protocol. Authorization is never among them.
  public var fields: [(name: String, value: String)] {
    FieldBlock.read(fieldBlock)
  }

  private func part(_ start: UInt32, _ count: UInt32) -> UnsafeRawBufferPointer {
    let whole = box.bytes
    guard Int(start) + Int(count) <= whole.count else { return UnsafeRawBufferPointer(start: nil, count: 0) }
    return UnsafeRawBufferPointer(rebasing: whole[Int(start)..<Int(start) + Int(count)])
  }
}

/// Where a notification is on its way (`Documentation/console-api.md`).
@frozen
public enum NotificationState: UInt8, Sendable, CaseIterable {
  /// Refused, or a fault was injected that gave no answer; see the verdict.
  case rejected = 0
  /// Kept until the device returns.
  case stored = 1
  /// Handed to the device's connection.
  case sent = 2
  /// Acknowledged by the device.
  case delivered = 3
  /// A newer one for the same token and topic took its place.
  case replaced = 4
  /// Its time ran out before the device came.
  case expired = 5
  /// Not to be stored and the device was offline, or the app is gone.
  case discarded = 6

  /// The word in the API. Spelled out: the language's own description of a case looks for conformances, which took a tenth of the
  /// instructions of a start, and is asked for with each event.
  public var name: String {
    switch self {
    case .rejected: "rejected"
    case .stored: "stored"
    case .sent: "sent"
    case .delivered: "delivered"
    case .replaced: "replaced"
    case .expired: "expired"
    case .discarded: "discarded"
    }
  }
}
