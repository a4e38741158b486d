import CourierWire
import PushModel
import Testing

/// The private commands of phones, byte for byte (`Documentation/device-protocol.md#private-to-the-emulator`).
@Suite("Commands of phones")
struct PhoneCommandTests {
  private func expect<Value: CourierCommandValue>(
    _ value: Value, _ hex: String, at location: SourceLocation = #_sourceLocation
  ) throws {
    #expect(try parse(Value.self, bytes(hex)) == value, sourceLocation: location)
    #expect(value.encoded == bytes(hex), sourceLocation: location)
  }

  @Test("an order is a number and JSON")
  func order() throws {
    try expect(
      PhoneOrderCommand(number: 7, order: Array(#"{"do":"close"}"#.utf8)),
      "71 00000018  01 0004 00000007  02 000e 7b22646f223a22636c6f7365227d")
  }

  @Test("the clock is a moment, and whether it stands still")
  func clock() throws {
    let now: UInt64 = 0x1797_9cfe_3d85_cd15
    try expect(
      PhoneOrderCommand(clock: .init(now: now, isFrozen: false)),
      "71 0000000f  03 0008 17979cfe3d85cd15  04 0001 00")
    try expect(
      PhoneOrderCommand(clock: .init(now: now, isFrozen: true)),
      "71 0000000f  03 0008 17979cfe3d85cd15  04 0001 01")
    let running = try #require(
      try parse(PhoneOrderCommand.self, bytes("71 0000000b 03 0008 0000000000000001")))
    #expect(running.clock == .init(now: 1, isFrozen: false))
    #expect(try parse(PhoneOrderCommand.self, bytes("71 00000004 04 0001 01"))?.clock == nil)
  }

  @Test("a report has the order's number, what went wrong, events, the phone, and how much was lost")
  func report() throws {
    try expect(PhoneReport(), "72 00000000")
    try expect(
      PhoneReport(
        number: 7, problem: "no", events: Array("[{}]".utf8), document: Array("{}".utf8), lost: 3),
      "72 0000001f  01 0004 00000007  02 0002 6e6f  03 0004 5b7b7d5d  04 0002 7b7d  05 0004 00000003")
  }

  @Test(
    "what is longer than an item goes in several, in order", arguments: [65_535, 65_536, 131_070, 200_000])
  func long(count: Int) throws {
    let text = (0..<count).map { UInt8(truncatingIfNeeded: $0 % 251) }
    let items = (count + 65_534) / 65_535
    let report = PhoneReport(events: text, document: [1])
    #expect(report.encoded.count == 5 + 3 * items + count + 4)
    let read = try withFrame(report.encoded, limit: CourierLimits.frameOfPhone) { try PhoneReport($0) }
    #expect(read == report)
  }

  @Test("numbers of another width are errors, unknown items are passed over")
  func odd() throws {
    for hex in ["71 00000004 01 0001 07", "71 00000005 03 0002 0001", "71 00000005 04 0002 0001"] {
      #expect(throws: CourierProtocolError(.itemMalformed, "")) {
        try parse(PhoneOrderCommand.self, bytes(hex))
      }
    }
    for hex in ["72 00000004 01 0001 07", "72 00000005 05 0002 0001"] {
      #expect(throws: CourierProtocolError(.itemMalformed, "")) { try parse(PhoneReport.self, bytes(hex)) }
    }
    #expect(try parse(PhoneReport.self, bytes("72 00000004 63 0001 07")) == PhoneReport())
  }

  @Test("a message may have the notification's id, and the hot path writes it alike")
  func notificationId() throws {
    var message = CourierMessage(
      token: DeviceToken(loading: 1), topic: try topicHash("com.example.app"), payload: [1], messageId: 2)
    (message.expiry, message.timestamp, message.priority) = (3, 4, 5)
    (message.storageFlags, message.storageFlagsToo) = (0, 0)
    let without = message.encoded
    message.notificationId = 0x0102_0304_0506_0708
    #expect(Array(message.encoded.dropFirst(without.count)) == bytes("e4 0008 0102030405060708"))
    let written = [UInt8](capacity: CourierMessage.mostAround + 1) { output in
      CourierMessage.write(
        to: &output, token: message.token, topic: message.topic, payload: message.payload.span, messageId: 2,
        expiry: 3, timestampNanoseconds: 4, storageFlags: 0, priority: 5,
        notificationId: message.notificationId)
    }
    #expect(written == message.encoded)
  }

  @Test("the packed form writes their numbers as numbers")
  func packed() throws {
    let frames = [
      PhoneOrderCommand(number: 7, order: [1], clock: .init(now: 1 << 40, isFrozen: true)).encoded,
      PhoneReport(number: 300, problem: "no", events: [2], document: [3], lost: 4).encoded,
    ]
    var (encoder, decoder) = (PackEncoder(), PackDecoder())
    let packed = frames.map { encoder.pack($0) }
    #expect(packed[0] == bytes("71 0f 01 87 02 01 01 03 a5010000000000 04 81"))
    #expect(packed[1] == bytes("72 10 01 a1012c 02 02 6e6f 03 01 02 04 01 03 05 84"))
    #expect(try decoder.frames(in: packed) == frames)
  }
}
