import CourierWire
import PushModel
import Testing

@Suite("Channels")
struct ChannelTests {
  private let token = DeviceToken(loading: 1)

  /// `Documentation/device-protocol.md#channels`, put together by hand.
  @Test("a subscription is the small message that the documentation describes")
  func layout() throws {
    let subscription = ChannelSubscription(
      index: 2,
      entries: [
        .init(
          topic: "a.b",
          join: [
            CourierChannel(id: [0xaa], lastMessageTime: 300),
            // The first number of two bytes.
            CourierChannel(id: [0xab], lastMessageTime: 128),
          ],
          leave: [CourierChannel(id: [0xbb, 0xcc])])
      ], replaces: true, baseToken: token)
    let update = "0801 121b 0a03612e62 1206 0a01aa 10ac02 1206 0a01ab 108001 1a04 0a02bbcc"
    let expected = bytes("01 0004 00000002 02 0021 \(update) 1801 03 0020") + token.bytes
    #expect(Array(subscription.encoded[5...]) == expected)
    #expect(try parse(ChannelSubscription.self, subscription.encoded) == subscription)
  }

  @Test("a confirmation names the subscription's counter")
  func confirmation() throws {
    let confirmation = ChannelConfirmation(index: 2, baseToken: nil, status: 1)
    #expect(confirmation.encoded == bytes("1d 0000000b 01 0004 00000002 04 0001 01"))
    #expect(try parse(ChannelConfirmation.self, confirmation.encoded) == confirmation)
  }

  @Test("large numbers and unknown fields are read")
  func fields() throws {
    let update = "0801 09 0102030405060708 25 01020304 3a0161 12 0e 0a0161 1209 0a00 10 808080808001"
    let body = bytes("01 0004 00000000 03 0020") + token.bytes
    let item = bytes(update)
    let frame = body + [2, 0, UInt8(item.count)] + item
    let subscription = try parse(ChannelSubscription.self, [0x1d, 0, 0, 0, UInt8(frame.count)] + frame)
    #expect(
      subscription?.entries == [.init(topic: "a", join: [CourierChannel(id: [], lastMessageTime: 1 << 35)])])
  }

  @Test(
    "a message that is cut or cannot be is an error",
    arguments: [
      "12", "1205", "0a", "08", "0880", "08ffffffffffffffffffff01", "0b", "12020a05", "25010203", "09",
    ])
  func malformed(update: String) {
    let item = bytes(update)
    let frame = bytes("01 0004 00000000 03 0020") + token.bytes + [2, 0, UInt8(item.count)] + item
    #expect(throws: CourierProtocolError(.itemMalformed, "")) {
      try parse(ChannelSubscription.self, [0x1d, 0, 0, 0, UInt8(frame.count)] + frame)
    }
  }
}
