import Basics
import PushModel

/// What is remembered of one notification. An ordinary value, with its frame or body in it.
///
/// One is written for each push, so it pays to be small: the fields stand in an order that leaves no gaps.
public struct JournalRecord {
  /// Counts all notifications of this run, from 1.
  public var id: UInt64 = 0
  public var receivedAt = Timestamp.never
  /// The same by the monotonic clock, in nanoseconds: for durations.
  var arrivedAt: Int64 = 0
  public internal(set) var storedAt = Timestamp.never
  public internal(set) var sentAt = Timestamp.never
  /// When the state became final.
  public internal(set) var endedAt = Timestamp.never
  var box = ByteBox()
  /// Where token, payload and header fields lie in it.
  private var parts = Parts()
  /// `apns-id` of the answer; nil on the binary protocol.
  public var apnsID: APNSID? = nil
  public var interface = Interface.gateway
  /// Command of the binary protocol; 0 elsewhere.
  public var command: UInt8 = 0
  public var environment = Environment.sandbox
  public var pushType = PushType.alert
  public var priority = Priority.immediate
  /// nil means accepted.
  public var rejection: Rejection? = nil
  public internal(set) var state = NotificationState.discarded
  /// UNIX seconds as sent; nil if the provider sent none.
  public var expiration: UInt32? = nil
  /// Deleted one by one: nobody is shown it, while others may still have to see it.
  public internal(set) var isHidden = false
  /// What else is to be told of it in a bit.
  public internal(set) var marks: PushMarks = []
  /// Identifier of the binary protocol; 0 elsewhere.
  public var identifier: UInt32 = 0
  /// Row of the token map, if the token is known.
  @Packed public internal(set) var registration: RegistrationID? = nil
  /// The topic pushed to, if one is known.
  @Packed public var topic: TopicID? = nil
  /// Connection that it came by, and authorization for whoever numbers it; 0 for none.
  public var connection: UInt32 = 0
  public var credential: UInt32 = 0

  init() {}

  /// Where token, payload and header fields lie in `raw`, in bytes.
  struct Parts: BitwiseCopyable {
    fileprivate var tokenStart: UInt32 = 0
    fileprivate var tokenCount: UInt32 = 0
    fileprivate var payloadStart: UInt32 = 0
    fileprivate var payloadCount: UInt32 = 0
    fileprivate var fieldsCount: UInt32 = 0

    fileprivate init() {}

    /// Copies the frame, or token, body and header fields, into `box`.
    @inline(__always)
    init(of submission: PlainSubmission, into box: inout ByteBox) {
      if !submission.frame.isEmpty {
        box.assign(submission.frame)
        tokenStart = Self.start(of: submission.token, in: submission.frame)
        payloadStart = Self.start(of: submission.payload, in: submission.frame)
      } else {
        box.assign(submission.token, submission.payload, submission.fields)
        payloadStart = UInt32(truncatingIfNeeded: submission.token.count)
      }
      tokenCount = UInt32(truncatingIfNeeded: submission.token.count)
      payloadCount = UInt32(truncatingIfNeeded: submission.payload.count)
      fieldsCount = UInt32(truncatingIfNeeded: submission.fields.count)
    }

    @inline(__always)
    private static func start(of part: Span<UInt8>, in frame: Span<UInt8>) -> UInt32 {
      frame.indices(of: part).map { UInt32(truncatingIfNeeded: $0.lowerBound) } ?? 0
    }
  }

  /// Becomes that of a notification that has just come, whatever it was.
  ///
  /// Writes each field in its place: a record that is made elsewhere first is copied for each push, which was 7 % of all
  /// instructions of a push that is kept.
  @inline(__always)
  mutating func begin(
    id: UInt64, _ submission: PlainSubmission, _ parts: Parts, _ marks: PushMarks,
    registration: RegistrationID?, rejection: Rejection?, now: Timestamp, arrivedAt: Int64
  ) {
    (self.id, receivedAt, self.arrivedAt) = (id, now, arrivedAt)
    (storedAt, sentAt, endedAt) = (.never, .never, rejection == nil ? .never : now)
    (apnsID, interface, command) = (submission.apnsID, submission.interface, submission.command)
    (environment, priority) = (submission.environment, submission.priority)
    // What Apple takes it for where the provider says nothing.
    pushType = submission.pushType ?? .alert
    (self.rejection, state) = (rejection, rejection == nil ? .discarded : .rejected)
    (expiration, identifier, isHidden) = (submission.expiration, submission.identifier, false)
    self.marks = marks
    _registration = Packed(wrappedValue: registration)
    _topic = Packed(wrappedValue: submission.topic)
    (connection, credential) = (submission.connection, submission.credential)
    self.parts = parts
  }

  /// What `kept` has no room for of one that was refused: a part of `raw`.
  func excess(over kept: KeptOfRefused) -> Range<Int>? {
    // A frame, or the like of one, ends with what matters least; behind the body of a request are its header fields.
    let isFrame = parts.fieldsCount == 0
    let start = isFrame ? kept.frame : Int(parts.payloadStart) + kept.body
    let end = isFrame ? Int(box.count) : Int(parts.payloadStart) + Int(parts.payloadCount)
    return start < end ? start..<end : nil
  }

  /// Takes a part out of `raw` that `excess` has found.
  mutating func cut(_ part: Range<Int>) {
    box.remove(part)
    if parts.fieldsCount > 0 { parts.payloadCount -= UInt32(truncatingIfNeeded: part.count) }
    parts.tokenCount = Self.shortened(parts.tokenStart, parts.tokenCount, to: box.count)
    parts.payloadCount = Self.shortened(parts.payloadStart, parts.payloadCount, to: box.count)
  }

  private static func shortened(_ start: UInt32, _ count: UInt32, to end: UInt32) -> UInt32 {
    start < end ? min(count, end - start) : 0
  }

  /// When it came, by the clock that nobody sets.
  public var arrival: Instant { Instant(nanoseconds: arrivedAt) }
  /// The frame as it came (gateway), or token, body and header fields one after the other.
  public var raw: Span<UInt8> {
    @_lifetime(borrow self) get { box.bytes }
  }
  /// What people are shown as it came: the frame, or the body alone.
  public var shownBytes: Span<UInt8> {
    @_lifetime(borrow self) get { interface == .gateway ? raw : payload }
  }
  /// The token as presented; may have any length.
  public var presentedToken: Span<UInt8> {
    @_lifetime(borrow self) get { part(parts.tokenStart, parts.tokenCount) }
  }
  public var payload: Span<UInt8> {
    @_lifetime(borrow self) get { part(parts.payloadStart, parts.payloadCount) }
  }
  /// Request header fields as a `FieldBlock`.
  public var fieldBlock: Span<UInt8> {
    @_lifetime(borrow self) get { part(parts.payloadStart &+ parts.payloadCount, parts.fieldsCount) }
  }
  /// Request header fields in order; none on the binary protocol. Authorization is never among them.
  public var fields: [(name: String, value: String)] {
    FieldBlock.read(fieldBlock)
  }

  @_lifetime(borrow self)
  private func part(_ start: UInt32, _ count: UInt32) -> Span<UInt8> {
    let (start, end) = (Int(start), Int(start) + Int(count))
    return end <= box.bytes.count ? box.bytes.extracting(start..<end) : .none
  }
}

/// When a notification came, for those who measure how long it took.
struct Arrival {
  /// By the monotonic clock, in nanoseconds.
  let at: Int64
  /// How it went to its device.
  let path: PushMeter.Path

  @inline(__always)
  init(_ record: borrowing JournalRecord) {
    at = record.arrivedAt
    path = record.storedAt == .never ? .direct : .kept
  }
}

/// Where a notification is on its way (`Documentation/console-api.md`).
public enum NotificationState: UInt8, Sendable, CaseIterable, BitwiseCopyable {
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
