import Basics
import CourierWire
import Credentials
import Platform
import PushModel
import Testing

import Transport

/// A device as a client sees itself: one connection to the courier, every frame written down with its time.
final class DeviceClient {
  struct Frame {
    var command: UInt8
    /// The whole frame.
    var bytes: [UInt8]
    /// When it came, monotonic nanoseconds.
    var at: Instant
  }

  let recorder = Recorder()
  let connection: SocketConnection
  private(set) var frames: [Frame] = []
  private(set) var messages: [CourierMessage] = []
  private(set) var tokenAnswers: [AppTokenResponse] = []
  private(set) var confirmations: [ChannelConfirmation] = []
  private(set) var appChanges: [AppStateChange] = []
  private(set) var orders: [PhoneOrderCommand] = []
  private(set) var welcome: ConnectedResponse?
  /// What every command is sent for; from the welcome, unless offered.
  var baseToken: DeviceToken?
  private let harness: EmulatorHarness
  private var decoder = CourierDecoder()
  /// The packed form, once it was agreed on.
  private var unpacking: PackDecoder?
  private var packing: PackEncoder?

  /// With `certificate` it shows one in the handshake, if it is asked for it.
  init(
    _ harness: EmulatorHarness, serverName: String? = nil, alpn: [String] = ["apns-security-v3"],
    certificate: ClientCertificate? = nil
  ) throws {
    self.harness = harness
    connection = try harness.connect(
      "courier", as: recorder, context: try harness.context(certificate), serverName: serverName, alpn: alpn)
    recorder.onOpened = { [weak self] in self?.agree($0.alpn) }
    recorder.onReceived = { [weak self] in self?.take($0) }
  }

  private func agree(_ protocolName: String?) {
    guard let name = protocolName.flatMap(PackName.init) else { return }
    unpacking = PackDecoder(cacheByteCount: name.incoming)
    packing = PackEncoder(cacheByteCount: name.outgoing)
  }

  private func take(_ bytes: Span<UInt8>) {
    var decoder = CourierDecoder()
    swap(&decoder, &self.decoder)
    defer { swap(&decoder, &self.decoder) }
    var input = bytes
    do {
      while let command = try unpacking?.next(&input, limit: 1 << 20) {
        try take(command.frame)
      }
      guard unpacking == nil else { return }
      while let taken = try decoder.next(&input, limit: 1 << 20, { frame in Result { try take(frame) } }) {
        try taken.get()
      }
    } catch {
      Issue.record("the courier sent what can't be read: \(error)")
    }
  }

  private func take(_ frame: CourierFrame) throws {
    let header = [frame.commandByte] + withUnsafeBytes(of: UInt32(frame.body.count).bigEndian) { Array($0) }
    frames.append(
      Frame(
        command: frame.commandByte, bytes: header + Array(frame.body),
        at: SystemClock.now()))
    switch frame.command {
    case .connected:
      let answer = try ConnectedResponse(frame)
      welcome = answer
      baseToken = answer.baseToken ?? baseToken
    case .message: messages.append(try CourierMessage(frame))
    case .appTokenResponse: tokenAnswers.append(try AppTokenResponse(frame))
    case .channels: confirmations.append(try ChannelConfirmation(frame))
    case .appState: appChanges.append(try AppStateChange(frame))
    case .phoneOrder: orders.append(try PhoneOrderCommand(frame))
    default: break
    }
  }

  // MARK: Sending

  func send(_ value: some CourierCommandValue) { send(value.encoded) }
  /// Frames in the plain form.
  func send(_ bytes: [UInt8]) { connection.send(packing?.pack(bytes) ?? bytes) }

  func filter(_ topics: [String]) {
    send(FilterUpdate(baseToken: baseToken, enabled: topics.compactMap(Topic.init).map(TopicHash.init)))
  }

  func acknowledge(_ message: CourierMessage, status: UInt8 = 0) {
    send(Acknowledgement(messageId: message.messageId, status: status, token: message.token))
  }

  // MARK: Waiting

  func count(_ command: CourierCommand) -> Int { frames.count { $0.command == command.rawValue } }

  func open(sourceLocation: SourceLocation = #_sourceLocation) {
    harness.turn(until: "TLS is up", sourceLocation: sourceLocation) { recorder.hasOpened }
  }

  /// Proves who it is and waits for the answer.
  @discardableResult
  func connect(
    _ identity: DeviceIdentity, offering token: DeviceToken? = nil,
    sourceLocation: SourceLocation = #_sourceLocation, _ change: (inout ConnectRequest) -> Void = { _ in }
  ) throws -> ConnectedResponse {
    open(sourceLocation: sourceLocation)
    baseToken = token
    var request = try ConnectRequest.proving(identity, offering: token)
    change(&request)
    send(request)
    harness.turn(until: "the courier answers", sourceLocation: sourceLocation) {
      welcome != nil || recorder.hasEnded
    }
    return try #require(welcome, sourceLocation: sourceLocation)
  }

  /// Asks for the token of a topic.
  func mint(_ topic: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> DeviceToken {
    let name = try #require(Topic(topic))
    let count = tokenAnswers.count
    send(AppTokenRequest(baseToken: baseToken, topic: TopicHash(name)))
    harness.turn(until: "there is a token", sourceLocation: sourceLocation) { tokenAnswers.count > count }
    return try #require(tokenAnswers.last?.appToken, sourceLocation: sourceLocation)
  }

  /// Waits until the courier has handled everything sent so far. Its answers come in order, so what is not here by
  /// then was not sent before.
  func roundTrip(sourceLocation: SourceLocation = #_sourceLocation) {
    let count = count(.keepAliveAnswer)
    send(KeepAlive())
    harness.turn(until: "the keep-alive is answered", sourceLocation: sourceLocation) {
      self.count(.keepAliveAnswer) > count
    }
  }

  /// Waits for so many messages since the connection began.
  func waitForMessages(_ count: Int, sourceLocation: SourceLocation = #_sourceLocation) {
    harness.turn(until: "\(count) messages are here, not \(messages.count)", sourceLocation: sourceLocation) {
      messages.count >= count
    }
  }

  /// Acknowledges each message as it comes, until the last one is what is waited for.
  func acknowledgeAll(
    until what: Comment, sourceLocation: SourceLocation = #_sourceLocation,
    _ isLast: (CourierMessage) -> Bool
  ) {
    var acknowledged = 0
    harness.turn(until: what, sourceLocation: sourceLocation) {
      for message in messages[acknowledged...] { acknowledge(message) }
      acknowledged = messages.count
      return messages.last.map(isLast) ?? false
    }
  }

  func disconnect() {
    connection.close()
    harness.turn(until: "the device is gone") { recorder.hasEnded }
    harness.settle()
  }
}

extension ConnectRequest {
  /// A request as a real device makes it.
  static func proving(_ identity: DeviceIdentity, offering token: DeviceToken? = nil) throws -> ConnectRequest
  {
    var request = ConnectRequest()
    request.baseToken = token
    (request.state, request.flags, request.protocolVersion) = (1, 0x41, 11)
    request.certificate = identity.certificateDER
    let nonce = DeviceNonce.make(now: Timestamp(nanoseconds: SystemClock.wallNanoseconds()))
    request.nonce = nonce
    request.signature = try identity.sign(nonce: nonce)
    return request
  }
}

extension EmulatorHarness {
  /// The identity of a device; each is made once in a run.
  func identity(_ udid: String) throws -> DeviceIdentity {
    let base = certs + "/devices/" + udid
    if let known = try? DeviceIdentity.load(pem: base + ".pem", key: base + ".key") { return known }
    let folder = CertsFolder(path: certs)
    try folder.issueDeviceCertificate(udid: try #require(UDID(udid)), now: Site.now)
    return try DeviceIdentity.load(pem: base + ".pem", key: base + ".key")
  }

  /// A device that is connected.
  func device(
    _ udid: String = "phone-1", serverName: String? = nil, offering token: DeviceToken? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> DeviceClient {
    let client = try DeviceClient(self, serverName: serverName)
    let welcome = try client.connect(identity(udid), offering: token, sourceLocation: sourceLocation)
    try #require(welcome.status == 0, sourceLocation: sourceLocation)
    return client
  }

  /// A device that listens to the app's topic, and its token.
  func listener(
    _ udid: String = "phone-1", sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> (device: DeviceClient, token: DeviceToken) {
    let client = try device(udid, sourceLocation: sourceLocation)
    let token = try client.mint(Site.topic, sourceLocation: sourceLocation)
    client.filter([Site.topic])
    client.roundTrip(sourceLocation: sourceLocation)
    return (client, token)
  }

  /// A device that has said what it listens to, and has not heard yet what was kept for it.
  func returningDevice(
    _ topics: [String] = [Site.topic], sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> DeviceClient {
    let client = try device(sourceLocation: sourceLocation)
    client.filter(topics)
    return client
  }

  /// Until pushes go out at once again: they wait 20 ms behind an answer
  /// (`Documentation/device-protocol.md#quiet-after-an-answer`).
  func passPause() { turn(milliseconds: 25) }

  /// The token of an app on a device, which is offline afterwards.
  func offlineToken(
    _ udid: String = "phone-1", topic: String = Site.topic, serverName: String? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> DeviceToken {
    let client = try device(udid, serverName: serverName, sourceLocation: sourceLocation)
    let token = try client.mint(topic, sourceLocation: sourceLocation)
    client.disconnect()
    return token
  }
}
