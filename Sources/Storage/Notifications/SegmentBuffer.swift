import Broker
import PushModel

/// Memory in which a segment is put together; kept from turn to turn.
final class SegmentBuffer {
  /// Only one notification larger than a whole segment makes it grow.
  private var buffer = ByteBuffer(capacity: NotificationLog.segmentByteCount)

  /// Bytes written so far.
  var count: Int { buffer.count }
  /// Lent until the next change.
  var bytes: UnsafeRawBufferPointer { buffer.bytes }

  func append(_ notification: StoredNotification) {
    let added = NotificationEntry.count(notification)
    buffer.append(atMost: added) { end in
      NotificationEntry.write(notification, to: end)
      return added
    }
  }

  func appendRemoval(of registration: RegistrationID) {
    buffer.append(atMost: NotificationEntry.headerCount) { end in
      NotificationEntry.writeRemoval(of: registration, to: end)
      return NotificationEntry.headerCount
    }
  }

  func removeAll() { buffer.removeAll() }
}
