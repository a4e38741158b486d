import Broker
import CourierWire
import PushModel

/// The frame that carries a message to a device.
extension OutgoingMessage {
  /// In bytes.
  var frameSize: Int {
    CourierMessage.encodedSize(payloadCount: payload.count, hasApnsId: head.apnsId != (0, 0))
  }

  /// Writes the frame and answers its size; `output` has room for `frameSize` bytes.
  func writeFrame(to output: UnsafeMutableRawPointer) -> Int {
    CourierMessage.write(
      to: output, token: token, topic: topic, payload: payload, messageId: messageId, expiry: head.expiry,
      timestampNanoseconds: UInt64(clamping: head.receivedAt.nanoseconds), storageFlags: origin.rawValue,
      priority: head.priority.rawValue, apnsId: head.apnsId == (0, 0) ? nil : head.apnsId)
  }

  var frame: [UInt8] {
    [UInt8](unsafeUninitializedCapacity: frameSize) { buffer, count in
      count = buffer.baseAddress.map { writeFrame(to: $0) } ?? 0
    }
  }
}
