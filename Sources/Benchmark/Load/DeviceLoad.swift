import CourierWire
import Credentials
import Platform
import PushModel
import Transport

/// One courier connection with several device identities that acknowledges everything at once.
final class DeviceLoad: ConnectionHandler {
  private let identities: [DeviceIdentity]
  private let topic: TopicHash
  private var connected = 0
  private var decoder = CourierDecoder()
  private let onReady: () -> Void
  private let onMessages: (Int) -> Void

  /// `onReady` is called when all identities are connected and have enabled the topic.
  init(
    identities: [DeviceIdentity], topic: TopicHash, onReady: @escaping () -> Void,
    onMessages: @escaping (Int) -> Void
  ) {
    (self.identities, self.topic) = (identities, topic)
    (self.onReady, self.onMessages) = (onReady, onMessages)
  }

  func connectionOpened(_ connection: SocketConnection) { connectNext(connection) }

  func connection(_ connection: SocketConnection, received bytes: UnsafeRawBufferPointer) {
    var input = bytes
    var count = 0
    while let frame = try? decoder.next(&input, limit: CourierLimits.frameAfterConnect) {
      switch frame.command {
      case .message: count += acknowledge(frame, on: connection)
      case .connected: enable(frame, on: connection)
      default: break
      }
    }
    if count > 0 { onMessages(count) }
  }

  func connectionClosed(_ connection: SocketConnection, reason: String) {}

  private func connectNext(_ connection: SocketConnection) {
    guard connected < identities.count else { return onReady() }
    let identity = identities[connected]
    connected += 1
    guard let request = identity.connectRequest() else { return connection.close() }
    connection.send(request.encoded)
  }

  private func enable(_ frame: CourierFrame, on connection: SocketConnection) {
    guard let response = try? ConnectedResponse(frame), response.status == 0 else {
      return connection.close()
    }
    if let token = response.baseToken {
      connection.send(FilterUpdate(baseToken: token, enabled: [topic]).encoded)
    }
    connectNext(connection)
  }

  /// Writes `0b 0000000b 04 0004 <id> 08 0001 00`, the shortest receipt
  /// (`Documentation/device-protocol.md#hex-examples`).
  private func acknowledge(_ frame: CourierFrame, on connection: SocketConnection) -> Int {
    var items = frame.items
    while let item = try? items.next() {
      guard item.id == CourierItem.Message.messageId.rawValue, item.value.count == 4 else { continue }
      connection.append(atMost: 16) { output in
        output.copyMemory(from: Self.receiptHead, byteCount: Self.receiptHead.count)
        (output + 8).copyMemory(from: item.value.baseAddress ?? UnsafeRawPointer(output), byteCount: 4)
        (output + 12).copyMemory(from: Self.receiptTail, byteCount: Self.receiptTail.count)
        return 16
      }
      return 1
    }
    return 0
  }

  private static let receiptHead: [UInt8] = [0x0b, 0, 0, 0, 11, 4, 0, 4]
  private static let receiptTail: [UInt8] = [8, 0, 1, 0]
}

extension DeviceIdentity {
  /// What says that the device is there, with a proof made now; nil if it can't be signed.
  func connectRequest() -> ConnectRequest? {
    let now = Timestamp(nanoseconds: SystemClock.wallNanoseconds())
    guard let nonce = try? DeviceNonce.make(now: now), let signature = try? sign(nonce: nonce) else {
      return nil
    }
    var request = ConnectRequest()
    (request.state, request.flags) = (1, 0x41)
    (request.certificate, request.nonce, request.signature) = (certificateDER, nonce, signature)
    return request
  }
}
