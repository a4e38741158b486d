import Broker
import PushModel

/// How one change of a stored notification lies in the log. Little-endian, all counts in bytes:
///
///     0 registration u32 | 4 payload count u32 | 8 id u64 | 16 received i64 | 24 expires i64
///     32 expiry u32 | 36 priority u8, with bit 7 where the provider named none | 37 push type u8, 255 for none | 38 kind u8 | 39 collapse id count u8
///     40 apns-id 16 if the kind has one | payload | collapse id
///
/// A removal is the first 40 bytes with everything but the registration and the kind zero.
enum NotificationEntry {
  static let headerCount = 40
  static let apnsIdCount = 16
  private static let noPushType = UInt8.max

  enum Kind: UInt8 { case removed = 0, kept = 1, keptWithId = 2 }

  /// Bytes that `notification` takes.
  @inline(__always)
  static func count(_ notification: StoredNotification) -> Int {
    headerCount + (hasId(notification) ? apnsIdCount : 0) + notification.payload.count
      + notification.content.collapseId.count
  }

  @inline(__always)
  private static func hasId(_ notification: StoredNotification) -> Bool {
    notification.head.apnsId.0 | notification.head.apnsId.1 != 0
  }

  /// Writes `notification` to memory with room for `count(notification)` bytes.
  @inline(__always)
  static func write(_ notification: StoredNotification, to base: UnsafeMutableRawPointer) {
    let isNamed = hasId(notification)
    let kind = isNamed ? Kind.keptWithId : .kept
    store(UInt32(bitPattern: notification.registration.number), base, 0)
    store(UInt32(truncatingIfNeeded: notification.payload.count), base, 4)
    store(notification.head.id, base, 8)
    store(notification.head.receivedAt.nanoseconds, base, 16)
    store(notification.head.expiresAt.nanoseconds, base, 24)
    store(notification.head.expiry, base, 32)
    let tail =
      UInt32(notification.head.priority.byte(isSaid: notification.head.saysPriority))
      | UInt32(notification.head.pushType?.rawValue ?? noPushType) << 8 | UInt32(kind.rawValue) << 16
      | UInt32(truncatingIfNeeded: notification.content.collapseId.count) << 24
    store(tail, base, 36)
    var end = base + headerCount
    if isNamed {
      store(notification.head.apnsId.0, end, 0)
      store(notification.head.apnsId.1, end, 8)
      end += apnsIdCount
    }
    put(notification.payload, at: &end)
    put(notification.content.collapseId, at: &end)
  }

  @inline(__always)
  private static func put(_ piece: UnsafeRawBufferPointer, at end: inout UnsafeMutableRawPointer) {
    guard let source = piece.baseAddress else { return }
    end.copyMemory(from: source, byteCount: piece.count)
    end += piece.count
  }

  /// Writes that the registration has no notification any more; takes `headerCount` bytes.
  static func writeRemoval(of registration: RegistrationID, to base: UnsafeMutableRawPointer) {
    base.initializeMemory(as: UInt8.self, repeating: 0, count: headerCount)
    store(UInt32(bitPattern: registration.number), base, 0)
  }

  /// One entry read back.
  enum Change {
    case kept(StoredNotification)
    case removed(RegistrationID)

    var registration: RegistrationID {
      switch self {
      case .kept(let notification): notification.registration
      case .removed(let row): row
      }
    }
  }

  /// Reads the entry at `offset` and moves past it; nil if the bytes make none.
  static func read(_ bytes: UnsafeRawBufferPointer, _ offset: inout Int) -> Change? {
    guard let start = bytes.baseAddress, bytes.count - offset >= headerCount else { return nil }
    let base = start + offset
    let registration = RegistrationID(number: Int32(bitPattern: load(base, 0) as UInt32))
    let payloadCount = Int(load(base, 4) as UInt32)
    guard registration.number >= 0, let kind = Kind(rawValue: load(base, 38)) else { return nil }
    let idCount = kind == .keptWithId ? apnsIdCount : 0
    let collapseIdCount = Int(load(base, 39) as UInt8)
    let count = idCount + payloadCount + collapseIdCount
    guard bytes.count - offset - headerCount >= count else { return nil }
    offset += headerCount + count
    guard kind != .removed else { return payloadCount == 0 ? .removed(registration) : nil }
    let typeNumber = load(base, 37) as UInt8
    let type = PushType(rawValue: typeNumber)
    guard let (priority, isSaid) = Priority.read(load(base, 36)), type != nil || typeNumber == noPushType
    else {
      return nil
    }
    let payload = base + headerCount + idCount
    return .kept(
      StoredNotification(
        registration: registration,
        head: NotificationHead(
          id: load(base, 8), receivedAt: Timestamp(nanoseconds: load(base, 16)),
          expiresAt: Timestamp(nanoseconds: load(base, 24)),
          apnsId: kind == .keptWithId ? (load(base, 40), load(base, 48)) : (0, 0), expiry: load(base, 32),
          priority: priority, saysPriority: isSaid, pushType: type),
        content: NotificationContent(
          UnsafeRawBufferPointer(start: payload, count: payloadCount),
          collapseId: UnsafeRawBufferPointer(start: payload + payloadCount, count: collapseIdCount))))
  }

  @inline(__always)
  private static func store<Value: FixedWidthInteger>(
    _ value: Value, _ base: UnsafeMutableRawPointer, _ offset: Int
  ) where Value: BitwiseCopyable {
    base.storeBytes(of: value.littleEndian, toByteOffset: offset, as: Value.self)
  }

  @inline(__always)
  private static func load<Value: FixedWidthInteger>(_ base: UnsafeRawPointer, _ offset: Int) -> Value
  where Value: BitwiseCopyable {
    Value(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: Value.self))
  }
}
