import Basics
import Testing

import NATSWire

@Suite struct NATSDecoderTests {
  static let info =
    #"INFO {"server_id":"N1","server_name":"n1","version":"2.9.10","headers":true,"jetstream":true,"max_payload":1048576,"nonce":"abc","connect_urls":["10.0.0.1:4222","10.0.0.2:4222"],"ldm":true}"#
    + "\r\n"
  /// From the page "Client Protocol" of the server's documentation, with headers as ADR-4 shows them.
  static let session =
    info + "PING\r\nPONG\r\n+OK\r\n-ERR 'Unknown Protocol Operation'\r\n"
    + "MSG FOO.BAR 9 11\r\nHello World\r\n" + "MSG FOO.BAR 9 GREETING.34 11\r\nHello World\r\n"
    + "HMSG FOO.BAR 9 34 45\r\nNATS/1.0\r\nFoodGroup: vegetable\r\n\r\nHello World\r\n"
    + "HMSG _INBOX.1 2 16 16\r\nNATS/1.0 503\r\n\r\n\r\n" + "msg\tFOO 1  0\r\n\r\n"

  static let expected: [NATSEvent] = [
    .info(
      {
        var info = NATSServerInfo()
        (info.serverName, info.hasJetStream, info.hasHeaders) = ("n1", true, true)
        (info.nonce, info.isLeaving) = ("abc", true)
        return info
      }()),
    .ping, .pong, .ok, .error("Unknown Protocol Operation"),
    .message(NATSMessage(subject: "FOO.BAR", subscription: 9, payload: Array("Hello World".utf8))),
    .message(
      NATSMessage(
        subject: "FOO.BAR", subscription: 9, reply: "GREETING.34", payload: Array("Hello World".utf8))),
    .message(
      NATSMessage(
        subject: "FOO.BAR", subscription: 9, headers: ["FoodGroup": "vegetable"],
        payload: Array("Hello World".utf8))),
    .message(NATSMessage(subject: "_INBOX.1", subscription: 2, headers: unanswered)),
    .message(NATSMessage(subject: "FOO", subscription: 1)),
  ]

  static var unanswered: NATSHeaders {
    var headers = NATSHeaders()
    headers.status = 503
    return headers
  }

  /// What a decoder says of bytes that come in pieces of a size.
  static func events(_ text: String, inPiecesOf size: Int = .max, limit: Int = 1 << 20) throws -> [NATSEvent]
  {
    var decoder = NATSDecoder(payloadLimit: limit)
    var events: [NATSEvent] = []
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let piece = Array(rest.prefix(size))
      rest = rest.dropFirst(piece.count)
      decoder.receive(piece.span)
      while let event = try decoder.next() { events.append(event) }
    }
    return events
  }

  @Test(arguments: [1, 2, 3, 7, 64, Int.max])
  func takesASessionInAnySegmentation(size: Int) throws {
    #expect(try Self.events(Self.session, inPiecesOf: size) == Self.expected)
  }

  @Test(arguments: [
    "MSG FOO 1\r\n", "MSG FOO x 3\r\n", "MSG FOO 1 -1\r\n", "MSG FOO 1 reply more 3\r\n",
    "HMSG FOO 1 9 3\r\n",
    "HMSG FOO 1 3\r\n", "HELLO\r\n", "PING\n", "INFO nothing\r\n", #"INFO {"max_payload":"much"}"# + "\r\n",
    "MSG FOO 1 3\r\nabcd\r\n", "HMSG FOO 1 8 8\r\nNATS/2.0\r\n", "HMSG FOO 1 10 10\r\nNATS/1.0\r\n\r\n",
    "HMSG FOO 1 18 18\r\nNATS/1.0\r\nnone\r\n\r\n\r\n", "HMSG FOO 1 18 18\r\nNATS/1.0 high\r\n\r\n\r\n\r\n",
    "HMSG FOO 1 14 14\r\nNATS/1.0\r\n\r\n\r\n\r\n", "HMSG FOO 1 16 16\r\nNATS/1.0\r\n: x\r\n\r\n\r\n",
    "HMSG FOO 1 14 14\r\nNATS/1.0\nA: b\n\r\n",
  ])
  func refusesWhatNoServerSays(text: String) {
    #expect(throws: NATSFailure.self) { try Self.events(text) }
    #expect(throws: NATSFailure.self) { try Self.events(text, inPiecesOf: 1) }
  }

  @Test(arguments: [[:], ["A": ""], ["A": "b", "Long-Name": "größer: x"]] as [NATSHeaders])
  func headersComeBackAsTheyWent(headers: NATSHeaders) throws {
    for status in [nil, 503] {
      for words in [nil, "No Responders"] where status != nil || words == nil {
        var headers = headers
        (headers.status, headers.words) = (status, words)
        let bytes = headers.encoded
        #expect(bytes.count == headers.encodedCount)
        let read = try NATSHeaders(bytes.span)
        #expect(read == headers)
      }
    }
  }

  @Test func holdsNoMoreThanItsLimits() {
    #expect(throws: NATSFailure.messageTooLarge(101, limit: 100)) {
      try Self.events("MSG FOO 1 101\r\n", limit: 100)
    }
    let endless = "INFO " + String(repeating: "x", count: NATSDecoder.lineLimit)
    #expect(throws: NATSFailure.lineTooLong(NATSDecoder.lineLimit)) { try Self.events(endless) }
    #expect(throws: NATSFailure.lineTooLong(NATSDecoder.lineLimit)) { try Self.events(endless + "\r\n") }
  }

  @Test func saysTheSameOfAllThatComesBehindAFailure() throws {
    var decoder = NATSDecoder(payloadLimit: 100)
    for text in ["HELLO\r\n", "PING\r\n"] {
      decoder.receive(Array(text.utf8).span)
      #expect(throws: NATSFailure.malformed("the operation HELLO")) { _ = try decoder.next() }
    }
  }
}
