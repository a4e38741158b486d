import Broker
import PushModel

/// Memory in which a segment is put together; kept from turn to turn.
final class SegmentBuffer {
  /// Only one message larger than a whole segment makes it grow.
  private var buffer = ByteBuffer(capacity: MessageLog.segmentByteCount)

  /// Bytes written so far.
  var count: Int { buffer.count }
  /// Lent until the next change.
  var bytes: UnsafeRawBufferPointer { buffer.bytes }

  func append(_ message: StoredNotification) {
    let added = MessageEntry.count(message)
    buffer.append(atMost: added) { end in
      MessageEntry.write(message, to: end)
      return added
    }
  }

  func appendRemoval(of registration: RegistrationID) {
    buffer.append(atMost: MessageEntry.headerCount) { end in
      MessageEntry.writeRemoval(of: registration, to: end)
      return MessageEntry.headerCount
    }
  }

  func removeAll() { buffer.removeAll() }
}
