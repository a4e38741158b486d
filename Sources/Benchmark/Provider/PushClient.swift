import CourierWire
import Credentials
import Platform
import PushModel
import Transport

/// A provider that pushes the present moment to one token.
final class PushClient: HTTP2ClientOwner {
  var connection: HTTP2ClientConnection?
  var token: DeviceToken?
  private let head: HTTP2RequestHead

  init(bearer: String, topic: String) {
    head = HTTP2RequestHead(
      authority: "api.sandbox.push.apple.com",
      fields: [("authorization", "bearer \(bearer)"), ("apns-topic", topic), ("apns-push-type", "alert")])
  }

  func push(_ count: Int) {
    guard let token, let connection else { return }
    for _ in 0..<count {
      let body = Array("{\"at\":\(SystemClock.monotonicNanoseconds())}".utf8)
      _ = connection.send(head, path: "/3/device/\(token.hex)", body: body)
    }
    connection.flush()
  }

  func connection(_ connection: HTTP2ClientConnection, settled context: Int, _ outcome: HTTP2Outcome) {}
  func connectionClosed(_ connection: HTTP2ClientConnection, reason: String) {}
}

/// A device that reads the moment of sending from each message.
final class LatencyDevice: ConnectionHandler {
  var onToken: (DeviceToken) -> Void = { _ in }
  var onMessage: (Int64) -> Void = { _ in }
  private let identity: DeviceIdentity
  private let topic: TopicHash
  private var decoder = CourierDecoder()
  private var baseToken: DeviceToken?

  init(identity: DeviceIdentity, topic: TopicHash) { (self.identity, self.topic) = (identity, topic) }

  func connectionOpened(_ connection: SocketConnection) {
    guard let request = identity.connectRequest() else { return connection.close() }
    connection.send(request.encoded)
  }

  func connection(_ connection: SocketConnection, received bytes: UnsafeRawBufferPointer) {
    var input = bytes
    while let frame = try? decoder.next(&input, limit: CourierLimits.frameAfterConnect) {
      take(frame, connection)
    }
  }

  func connectionClosed(_ connection: SocketConnection, reason: String) {}

  private func take(_ frame: CourierFrame, _ connection: SocketConnection) {
    switch frame.command {
    case .connected:
      baseToken = (try? ConnectedResponse(frame))?.baseToken
      connection.send(AppTokenRequest(baseToken: baseToken, topic: topic).encoded)
    case .appTokenResponse:
      connection.send(FilterUpdate(baseToken: baseToken, enabled: [topic]).encoded)
      if let token = (try? AppTokenResponse(frame))?.appToken { onToken(token) }
    case .message:
      guard let message = try? CourierMessage(frame) else { return }
      let digits = message.payload.filter { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
      if let sentAt = Int64(String(decoding: digits, as: UTF8.self)) { onMessage(sentAt) }
      connection.send(Acknowledgement(messageId: message.messageId).encoded)
    default: break
    }
  }
}
