import Basics
import PushModel

/// What is known of a notification beside its payload, wherever it lies: in its slot, on its way to a device, in the store.
public struct NotificationHead: BitwiseCopyable, Sendable {
  /// The notification's id. Its low half tells the notification apart on a device's connection.
  public var id: UInt64
  public var receivedAt: Timestamp
  /// When it is no longer worth keeping.
  public var expiresAt: Timestamp
  /// `apns-id` as 16 bytes; both zero where the interface has none.
  public var apnsId: (UInt64, UInt64)
  /// Expiry as the device is told, UNIX seconds; all ones for none.
  public var expiry: UInt32
  public var priority: Priority
  /// Whether the provider named it; a phone goes by that where there is no push type either.
  public var saysPriority: Bool
  /// nil where the provider said none.
  public var pushType: PushType?

  public init(
    id: UInt64, receivedAt: Timestamp, expiresAt: Timestamp, apnsId: (UInt64, UInt64) = (0, 0),
    expiry: UInt32 = .max, priority: Priority = .immediate, saysPriority: Bool = true,
    pushType: PushType? = nil
  ) {
    (self.id, self.receivedAt, self.expiresAt, self.apnsId) = (id, receivedAt, expiresAt, apnsId)
    (self.expiry, self.priority, self.pushType) = (expiry, priority, pushType)
    self.saysPriority = saysPriority
  }

  /// By functions, as a key path would cost more, and a cluster's log is told each notification.
  public static let form = RowForm<NotificationHead>([
    RowField(1, "id", .u64, get: { $0.id }, set: { $0.id = $1 }),
    RowField(2, "receivedAt", .time, get: { $0.receivedAt }, set: { $0.receivedAt = $1 }),
    RowField(3, "expiresAt", .time, get: { $0.expiresAt }, set: { $0.expiresAt = $1 }),
    RowField(4, "apnsId", .u64, get: { $0.apnsId.0 }, set: { $0.apnsId.0 = $1 }),
    RowField(5, "apnsId", .u64, get: { $0.apnsId.1 }, set: { $0.apnsId.1 = $1 }),
    RowField(6, "expiry", .u32, get: { $0.expiry }, set: { $0.expiry = $1 }),
    RowField(
      7, "priority",
      .ofInteger(
        .u8, "a priority", { UInt8(exactly: $0).flatMap(Priority.read) }, { Int64($0.byte(isSaid: $1)) }),
      get: { ($0.priority, $0.saysPriority) }, set: { ($0.priority, $0.saysPriority) = $1 }),
    RowField(
      8, "pushType",
      .ofInteger(
        .u8, "a push type",
        { $0 == noType ? .some(nil) : UInt8(exactly: $0).flatMap(PushType.init).map(Optional.some) },
        { $0.map { Int64($0.rawValue) } ?? noType }), get: { $0.pushType }, set: { $0.pushType = $1 }),
  ])
  /// In the place of a push type, where the provider said none.
  private static let noType = Int64(UInt8.max)

  /// What a row is read into.
  public static let blank = NotificationHead(id: 0, receivedAt: .never, expiresAt: .never)

  /// Whether it came before another. Ids tell only of those that came by one node.
  func isOlder(than other: NotificationHead) -> Bool { (receivedAt, id) < (other.receivedAt, other.id) }

  @inline(__always)
  init(_ submission: PlainSubmission, id: UInt64, expiresAt: Timestamp? = nil, now: Timestamp) {
    self.init(
      id: id, receivedAt: now, expiresAt: expiresAt ?? Self.expiry(submission.expiration, now),
      apnsId: APNSID.words(submission.apnsID), expiry: submission.expiration ?? .max,
      priority: submission.priority, saysPriority: submission.saysPriority, pushType: submission.pushType)
  }

  /// When a notification is no longer worth keeping. An expiration of 0, or one that has passed, is tried once and never
  /// kept; none at all means 30 days (`Documentation/provider-api.md#open-questions`).
  @inline(__always)
  static func expiry(_ expiration: UInt32?, _ now: Timestamp) -> Timestamp {
    let latest = now.adding(nanoseconds: Limits.defaultStorageSeconds * 1_000_000_000)
    guard let expiration else { return latest }
    return min(Timestamp(seconds: Int64(expiration)), latest)
  }
}

/// The bytes of a notification, lent.
public struct NotificationContent: ~Escapable {
  public var payload: Span<UInt8>
  /// `apns-collapse-id`, at most `Limits.collapseId` bytes; empty for none.
  public var collapseId: Span<UInt8>

  @inline(__always)
  @_lifetime(copy payload, copy collapseId)
  public init(_ payload: Span<UInt8>, collapseId: Span<UInt8>) {
    (self.payload, self.collapseId) = (payload, collapseId)
  }

  @inline(__always)
  @_lifetime(copy payload)
  public init(_ payload: Span<UInt8>) { self.init(payload, collapseId: .none) }

  /// The identifier as text; nil for none.
  public var collapseText: String? { collapseId.isEmpty ? nil : collapseId.text }
}

/// A stored notification as the store writes and reads it.
public struct StoredNotification {
  public var registration: RegistrationID
  public var head: NotificationHead
  /// The payload, and the collapse identifier behind it.
  private var bytes: [UInt8]
  private var payloadCount: Int

  public init(registration: RegistrationID, head: NotificationHead, content: NotificationContent) {
    (self.registration, self.head, payloadCount) = (registration, head, content.payload.count)
    bytes = []
    bytes.reserveCapacity(content.payload.count + content.collapseId.count)
    bytes.append(content.payload)
    bytes.append(content.collapseId)
  }

  public var content: NotificationContent {
    @_lifetime(borrow self)
    get {
      NotificationContent(
        bytes.span.extracting(first: payloadCount),
        collapseId: bytes.span.extracting(droppingFirst: payloadCount))
    }
  }
  public var payload: Span<UInt8> {
    @_lifetime(borrow self) get { bytes.span.extracting(first: payloadCount) }
  }
  /// The collapse identifier as text; nil for none.
  public var collapseText: String? { content.collapseText }
}

/// What a device's connection needs to send one notification. Its bytes are lent for the call.
public struct OutgoingNotification: ~Escapable {
  public var token: DeviceToken
  public var topic: TopicHash
  public var content: NotificationContent
  public var head: NotificationHead
  public var origin: NotificationOrigin

  @inline(__always)
  @_lifetime(copy content)
  init(
    token: DeviceToken, topic: TopicHash, content: NotificationContent, head: NotificationHead,
    origin: NotificationOrigin
  ) {
    (self.token, self.topic, self.content, self.head, self.origin) = (token, topic, content, head, origin)
  }

  /// Tells it apart from other unacknowledged notifications of the connection.
  public var messageId: UInt32 { courierMessageID(head.id) }
}

/// What a notification is called on a device's connection: the low half of its id. Of several nodes, whose ids begin 2^36 apart, each
/// begins elsewhere in that half: two that are on their way to one device at a time are called the same only if their counts differ by
/// one of few numbers.
@inline(__always)
public func courierMessageID(_ id: UInt64) -> UInt32 {
  UInt32(truncatingIfNeeded: id) &+ UInt32(truncatingIfNeeded: id >> 36) &* 0x9e37_79b1
}

/// Whether a notification comes from storage, by the numbers of the device protocol
/// (`Documentation/device-protocol.md#message`, `#tokens-and-sessions`).
public enum NotificationOrigin: UInt8, Sendable {
  case fresh = 0
  case stored = 1
  /// From storage, and the last of what was there.
  case lastStored = 3
}
