import Testing

/// A frame that the gateway refuses, and the packet that says so (`Documentation/binary-protocol.md#statuses`).
struct BadFrame: CustomTestStringConvertible {
  var testDescription: String
  var frame: [UInt8]
  /// nil for command 0: the connection just closes.
  var packet: [UInt8]?

  init(_ name: String, _ frame: String, _ packet: String?) {
    (testDescription, self.frame) = (name, bytes(frame))
    self.packet = packet.map(bytes)
  }

  private static let token = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
  private static let payload = "0016 7b22617073223a7b22616c657274223a224869227d7d"
  /// One byte more than the limit of the era.
  private static let longPayload = "0801" + String(repeating: "20", count: 2049)

  /// Every status that a provider can cause with a frame.
  static let all: [BadFrame] = [
    // 2, with the identifier; without one for an empty token item.
    BadFrame("no token item", "02 00000020 02 \(payload) 03 0004 0000002a", "08020000002a"),
    BadFrame(
      "empty token and payload, as one client flushes",
      "02 00000018 03 0004 0000002a 01 0000 02 0000 04 0004 00000000 05 0001 0a", "080200000000"),
    BadFrame("empty token in command 1", "01 0000002a 6553f100 0000 \(payload)", "080200000000"),
    BadFrame("empty token in command 0", "00 0000 \(payload)", nil),
    // 4
    BadFrame("no payload item", "02 0000002a 01 0020 \(token) 03 0004 0000002a", "08040000002a"),
    BadFrame("empty payload in command 1", "01 0000002a 6553f100 0020 \(token) 0000", "08040000002a"),
    BadFrame("empty payload in command 0", "00 0020 \(token) 0000", nil),
    // 5
    BadFrame(
      "token of 31 bytes", "02 00000042 01 001f \(token.dropLast(2)) 02 \(payload) 03 0004 0000002a",
      "08050000002a"),
    BadFrame(
      "token of one byte, as one client tests", "01 00000000 00000000 0001 00 0001 00", "080500000000"),
    BadFrame(
      "token of 101 bytes", "01 0000002a 00000000 0065 \(String(repeating: "ab", count: 101)) \(payload)",
      "08050000002a"),
    // 7
    BadFrame("payload of 2049 bytes", "01 0000002a 6553f100 0020 \(token) \(longPayload)", "08070000002a"),
    BadFrame("payload of 2049 bytes in command 0", "00 0020 \(token) \(longPayload)", nil),
    // 8
    BadFrame(
      "unknown token, all items",
      "02 0000004e 01 0020 \(token) 02 \(payload) 03 0004 0000002a 04 0004 6553f100 05 0001 0a",
      "08080000002a"),
    BadFrame(
      "unknown token, identifier first",
      "02 0000004e 03 0004 0000002a 01 0020 \(token) 02 \(payload) 04 0004 6553f100 05 0001 0a",
      "08080000002a"),
    BadFrame("unknown token, no identifier", "02 0000003c 01 0020 \(token) 02 \(payload)", "080800000000"),
    BadFrame("unknown token in command 1", "01 0000002a 6553f100 0020 \(token) \(payload)", "08080000002a"),
    BadFrame("unknown token in command 0", "00 0020 \(token) \(payload)", nil),
    BadFrame(
      "unknown token of 100 bytes",
      "01 0000002a 00000000 0064 \(String(repeating: "ab", count: 100)) \(payload)", "08080000002a"),
    BadFrame(
      "an identifier that is not a small number", "01 deadbeef 6553f100 0020 \(token) \(payload)",
      "0808deadbeef"),
    // 128
    BadFrame("unknown command", "03 0000002a", "088000000000"),
    BadFrame("frame length 0", "02 00000000", "088000000000"),
    BadFrame("frame length beyond any frame", "02 ffffffff", "088000000000"),
    BadFrame(
      "an item twice", "02 0000002e 03 0004 0000002a 01 0020 \(token) 03 0004 0000002b", "08800000002a"),
    BadFrame("an unknown item", "02 0000000b 03 0004 0000002a 06 0001 00", "08800000002a"),
    BadFrame(
      "an item that overruns the frame", "02 0000000b 03 0004 0000002a 01 0020 00", "08800000002a"),
    BadFrame("an identifier of 3 bytes", "02 00000006 03 0003 00002a", "088000000000"),
    BadFrame("an expiry of 2 bytes", "02 0000000c 03 0004 0000002a 04 0002 6553", "08800000002a"),
    BadFrame("priority 7", "02 0000000b 03 0004 0000002a 05 0001 07", "08800000002a"),
    BadFrame("bytes left over", "02 00000009 03 0004 0000002a 0102", "08800000002a"),
  ]
}
