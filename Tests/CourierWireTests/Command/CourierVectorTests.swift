import Basics
import CourierWire
import PushModel
import Testing

/// `Documentation/device-protocol.md#hex-examples`, both ways: the bytes are read as the value, and the value is
/// written as the bytes.
@Suite("Examples of the documentation")
struct CourierVectorTests {
  private let baseToken: DeviceToken
  private let appToken: DeviceToken
  private let topic: TopicHash

  init() throws {
    baseToken = try #require(DeviceToken(hex: Vectors.baseTokenHex))
    appToken = try #require(DeviceToken(hex: Vectors.appTokenHex))
    topic = try #require(TopicHash(bytes: bytes(Vectors.topicHex)))
  }

  private func expect<Value: CourierCommandValue>(
    _ value: Value, _ vector: [UInt8], at location: SourceLocation = #_sourceLocation
  ) throws {
    #expect(try parse(Value.self, vector) == value, sourceLocation: location)
    #expect(value.encoded == vector, sourceLocation: location)
  }

  @Test("connect")
  func connect() throws {
    var request = ConnectRequest()
    request.state = 1
    request.flags = 0x41
    request.certificate = [0x30, 0x82, 0xaa, 0xbb]
    request.nonce = bytes("00 0000018bcfe56800 1122334455667788")
    request.signature = bytes("0101deadbeef")
    request.protocolVersion = 11
    try expect(request, Vectors.connect)
  }

  @Test("connected")
  func connected() throws {
    let now = Timestamp(nanoseconds: 1_700_000_000_123_000_000)
    try expect(ConnectedResponse(status: 0, baseToken: baseToken, at: now), Vectors.connected)
  }

  @Test("filter, without and with a topic")
  func filter() throws {
    try expect(FilterUpdate(baseToken: baseToken), Vectors.emptyFilter)
    try expect(FilterUpdate(baseToken: baseToken, enabled: [topic]), Vectors.filter)
  }

  @Test("app-token request and response")
  func appTokens() throws {
    let request = AppTokenRequest(baseToken: baseToken, topic: topic)
    try expect(request, Vectors.appTokenRequest)
    try expect(AppTokenResponse(answering: request, with: appToken), Vectors.appTokenResponse)
  }

  @Test("message")
  func message() throws {
    var message = CourierMessage(
      token: appToken, topic: topic, payload: Array(Vectors.payload.utf8), messageId: 0x1001)
    message.expiry = CourierMessage.noExpiry
    message.timestamp = 0x1797_9cfe_3d85_cd15
    message.storageFlags = 0
    message.priority = 10
    try expect(message, Vectors.message)
  }

  @Test("acknowledgement, with and without token")
  func acknowledgement() throws {
    try expect(Acknowledgement(messageId: 0x1001, status: 0, token: appToken), Vectors.acknowledgement)
    try expect(Acknowledgement(messageId: 0x1001), Vectors.shortAcknowledgement)
  }

  @Test("keep-alive and its answer, no-storage, set-state")
  func small() throws {
    try expect(KeepAlive(), Vectors.keepAlive)
    try expect(KeepAliveAnswer(), Vectors.keepAliveAnswer)
    try expect(NoStorage(baseToken: baseToken), Vectors.noStorage)
    try expect(SetState.active, Vectors.setState)
  }

  @Test("the hashes of both topics that the documentation names")
  func topicHashes() throws {
    #expect(TopicHash(try #require(Topic("com.example.app"))) == topic)
    let madrid = TopicHash(try #require(Topic("com.apple.madrid")))
    #expect(madrid.hex == "e4e6d952954168d0a5db02dbaf27cc35fc18d159")
  }
}
