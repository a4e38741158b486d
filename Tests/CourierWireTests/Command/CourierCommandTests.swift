import Basics
import CourierWire
import PushModel
import Testing

/// What the examples of the documentation do not show: every item, and items that are odd.
@Suite("Courier commands")
struct CourierCommandTests {
  private let token = DeviceToken(loading: 1)
  private let topic: TopicHash

  init() throws { topic = try topicHash("com.example.app") }

  private func expectRoundTrip<Value: CourierCommandValue>(
    _ value: Value, at location: SourceLocation = #_sourceLocation
  ) throws {
    #expect(try parse(Value.self, value.encoded) == value, sourceLocation: location)
  }

  @Test("are written and read with every item")
  func everyItem() throws {
    try expectRoundTrip(fullConnect())
    var connected = ConnectedResponse(status: 3, baseToken: token, at: Timestamp(seconds: 1))
    (connected.serverMetadata, connected.redirectReason) = ("a", "b")
    try expectRoundTrip(connected)
    var filter = FilterUpdate(baseToken: token, enabled: [topic, topic])
    (filter.ignored, filter.opportunistic, filter.paused, filter.nonWaking) = (
      [topic], [topic], [topic], [topic]
    )
    try expectRoundTrip(filter)
    var request = AppTokenRequest(
      baseToken: token, topic: topic, topicName: Topic("com.example.app"), heldToken: token)
    request.appId = [0, 0]
    try expectRoundTrip(request)
    (request.context, request.isOver) = (.named(.start(attributesType: "Game")), true)
    try expectRoundTrip(request)
    try expectRoundTrip(AppTokenResponse(answering: request, with: token))
    try expectRoundTrip(
      AppTokenResponse(answering: request, with: nil, refusal: AppTokenResponse.statusRemoved))
    try expectRoundTrip(fullMessage())
    try expectRoundTrip(UpstreamMessage(topic: topic, baseToken: token, payload: [1, 2], messageId: 9))
    for action in AppStateChange.Action.allCases {
      try expectRoundTrip(AppStateChange(action, topic: topic, topicName: Topic("com.example.app")))
    }
  }

  @Test("a context's token is asked for and ended by private items; one that can't be read is told from none")
  func contexts() throws {
    let request = AppTokenRequest(
      baseToken: nil, topic: topic, context: .activity(id: "a1"), isOver: true)
    let hash = topic.hex
    #expect(
      request.encoded
        == bytes("11 00000029 02 0014 \(hash) e5 000b 61637469766974793a6131 e6 0001 01"))
    #expect(try parse(AppTokenRequest.self, bytes("11 00000017 02 0014 \(hash)"))?.context == .absent)
    let strange = bytes("11 0000001c 02 0014 \(hash) e5 0002 6131")
    #expect(try parse(AppTokenRequest.self, strange)?.context == .unreadable)
  }

  private func fullConnect() -> ConnectRequest {
    var connect = ConnectRequest()
    (connect.baseToken, connect.state, connect.flags, connect.interface) = (token, 1, 0x45, 1)
    (connect.carrier, connect.systemVersion, connect.systemBuild) = ("WiFi", "18.0", "22A")
    (connect.hardwareModel, connect.certificate, connect.nonce) = ("iPhone", [1], [2])
    (connect.signature, connect.protocolVersion, connect.redirectCount) = ([3], 11, 1)
    (connect.dnsTime, connect.tlsTime, connect.timestamp, connect.simulatedDevice) = (5, 6, 7, 1)
    connect.topicNames = ["com.example.app", "com.example.other"].compactMap(Topic.init)
    return connect
  }

  private func fullMessage() -> CourierMessage {
    var message = CourierMessage(token: token, topic: topic, payload: [1, 2, 3], messageId: 4)
    (message.expiry, message.timestamp, message.storageFlags, message.storageFlagsToo) = (5, 6, 1, 3)
    (message.priority, message.baseToken, message.pushType) = (10, DeviceToken(loading: 2), 8)
    (message.tracingIdentifier, message.collapseId) = (Array(0..<16), "score")
    message.notificationId = 1 << 40
    message.channel = CourierChannel(id: [1, 2], lastMessageTime: 1 << 60)
    return message
  }

  @Test("connect passes over items of unexpected form, and takes an empty token for none")
  func oddConnect() throws {
    let connect = try #require(
      try parse(
        ConnectRequest.self, bytes("07 00000014 01 0000 05 0001 41 1a 0002 0102 02 0002 0001 e1 0000")))
    #expect(connect.baseToken == nil)
    #expect(connect.flags == nil)
    #expect(connect == ConnectRequest())
  }

  @Test("connect with a token of another length is an error")
  func badToken() {
    #expect(throws: CourierProtocolError(.itemMalformed, "")) {
      try parse(ConnectRequest.self, bytes("07 00000004 01 0001 00"))
    }
  }

  @Test("filter skips topics that are not 20 bytes, as one client writes them")
  func malformedFilter() throws {
    let two = [UInt8](repeating: 7, count: 40)
    let body = [2, 0, 40] + two + [2, 0, 20] + topic.bytes + [3, 0, 0] + [12, 0, 1, 0]
    let filter = try #require(
      try parse(FilterUpdate.self, [9, 0, 0, 0, UInt8(body.count)] + body))
    #expect(filter.enabled == [topic])
    #expect(filter.ignored.isEmpty)
  }

  @Test("answers of other servers are read with nothing but what is needed")
  func sparse() throws {
    let connected = try #require(try parse(ConnectedResponse.self, bytes("08 00000004 01 0001 00")))
    #expect(connected.status == 0 && connected.baseToken == nil && connected.maximumMessageSize == nil)
    #expect(throws: CourierProtocolError(.itemMissing, "")) {
      try parse(ConnectedResponse.self, bytes("08 00000000"))
    }
    #expect(throws: CourierProtocolError(.itemMalformed, "")) {
      try parse(AppTokenResponse.self, bytes("12 00000009 01 0001 00 02 0002 0000"))
    }
    #expect(throws: CourierProtocolError(.itemMissing, "")) {
      try parse(AppTokenResponse.self, bytes("12 00000004 01 0001 00"))
    }
  }

  @Test("message is refused where a known client would die of it")
  func strictMessage() throws {
    for (id, width) in [(1, 20), (2, 32), (4, 2), (5, 8), (6, 4), (9, 2), (13, 2), (15, 20)] {
      let odd = [UInt8(id), 0, UInt8(width)] + [UInt8](repeating: 0, count: width)
      let body = Vectors.message.dropFirst(5) + odd
      #expect(throws: CourierProtocolError(.itemMalformed, ""), "item \(id)") {
        try parse(CourierMessage.self, [10, 0, 0, 0, UInt8(body.count)] + body)
      }
    }
    #expect(throws: CourierProtocolError(.itemMissing, "")) {
      try parse(CourierMessage.self, bytes("0a 00000000"))
    }
  }

  @Test("acknowledgement needs its message id, takes its items in any order and its token in any form")
  func acknowledgement() throws {
    #expect(throws: CourierProtocolError(.itemMissing, "")) {
      try parse(Acknowledgement.self, bytes("0b 00000004 08 0001 00"))
    }
    let odd = try parse(Acknowledgement.self, bytes("0b 00000010 08 0001 80 01 0002 ffff 04 0004 00000007"))
    #expect(odd == Acknowledgement(messageId: 7, status: 0x80))
    #expect(
      try withFrame(Vectors.acknowledgement) { try Acknowledgement.read($0) } == .init(messageId: 0x1001))
    let noStatus = try parse(Acknowledgement.self, bytes("0b 00000007 04 0004 00000007"))
    #expect(noStatus == Acknowledgement(messageId: 7))
  }

  @Test("a refused app token is written with an empty item, which one client needs")
  func refusedToken() throws {
    let refusal = AppTokenResponse(answering: AppTokenRequest(baseToken: token, topic: topic), with: nil)
    #expect(refusal.encoded == bytes("12 0000001e 01 0001 01 02 0000 03 0014 \(topic.hex)"))
  }

  @Test("the message written without allocation equals the one built item by item")
  func hotWrite() throws {
    for hasApnsId in [false, true] {
      for count in [0, 1, 22, 4096, 65535] {
        var message = CourierMessage(
          token: token, topic: topic, payload: [UInt8](repeating: 0x7b, count: count), messageId: 0xfffe_0001)
        (message.expiry, message.timestamp, message.priority) = (0x0102_0304, 1_700_000_000_000_000_001, 5)
        (message.storageFlags, message.storageFlagsToo) = (3, 3)
        if hasApnsId { message.tracingIdentifier = Array(0..<16) }
        #expect(written(message) == message.encoded)
      }
    }
  }

  @Test("a simulated device is told push type and collapse id too, each only if there is one")
  func privateItems() throws {
    let rows: [(UInt16?, String?, String)] = [
      (nil, nil, ""), (0, nil, "1c 0002 0000"), (7, nil, "1c 0002 0007"), (nil, "ab", "e3 0002 6162"),
      (1, "score", "1c 0002 0001 e3 0005 73636f7265"),
    ]
    for (type, collapseId, items) in rows {
      var message = CourierMessage(token: token, topic: topic, payload: [0x7b], messageId: 1)
      (message.expiry, message.timestamp, message.priority) = (2, 3, 5)
      (message.storageFlags, message.storageFlagsToo) = (1, 1)
      let plain = written(message)
      (message.pushType, message.collapseId) = (type, collapseId)
      let told = written(message)
      #expect(told == message.encoded)
      #expect(Array(told.dropFirst(plain.count)) == bytes(items))
      #expect(told[5..<plain.count] == plain[5...])
      let read = try #require(try parse(CourierMessage.self, told))
      #expect(read.pushType == type && read.collapseId == collapseId)
    }
  }

  @Test("a frame with every item has as many bytes around payload and collapse id as are said to be the most")
  func mostAround() {
    var message = CourierMessage(token: token, topic: topic, payload: [1, 2], messageId: 1)
    (message.tracingIdentifier, message.pushType) = (Array(0..<16), 1)
    (message.collapseId, message.notificationId) = ("score", 1)
    #expect(written(message).count == CourierMessage.mostAround + 2 + 5)
  }

  @Test(
    "what the provider left unsaid is told beside the push type, and a device of an earlier version reads that as before"
  )
  func unsaid() {
    for (type, saysPriority, number) in [
      (PushType.alert, true, 0x0000), (.background, false, 0x0101), (nil, false, 0x01ff), (nil, true, nil),
    ] as [(PushType?, Bool, UInt16?)] {
      var message = CourierMessage(token: token, topic: topic, payload: [0x7b], messageId: 1)
      message.pushType = CourierMessage.said(type, priority: saysPriority)
      #expect(message.pushType == number)
      #expect(message.saidPushType == type && message.saysPriority == saysPriority)
    }
  }

  private func written(_ message: CourierMessage) -> [UInt8] {
    let apnsId = message.tracingIdentifier.map {
      ($0.span.native(UInt64.self, at: 0), $0.span.native(UInt64.self, at: 8))
    }
    let collapseId = Array((message.collapseId ?? "").utf8)
    let size =
      CourierMessage.mostAround + message.payload.count + collapseId.count
    return [UInt8](capacity: size) { output in
      CourierMessage.write(
        to: &output, token: message.token, topic: message.topic, payload: message.payload.span,
        messageId: message.messageId, expiry: message.expiry ?? 0,
        timestampNanoseconds: message.timestamp ?? 0, storageFlags: message.storageFlags ?? 0,
        priority: message.priority ?? 0, apnsId: apnsId, pushType: message.pushType,
        collapseId: collapseId.span, notificationId: message.notificationId)
    }
  }
}
