import Basics
import Testing

import NATSWire

/// Documents as a nats-server 2.9.10 sent them.
@Suite struct JetStreamTests {
  private let configuration = JetStreamConfiguration(name: "APNS_Z0", subject: "apns.log.0")

  private func answer(_ text: String, _ headers: NATSHeaders? = nil) -> NATSAnswer {
    .message(NATSMessage(subject: "_INBOX.1", subscription: 1, headers: headers, payload: Array(text.utf8)))
  }

  private func error(_ code: Int, _ words: String) -> String {
    #"{"error":{"code":400,"err_code":\#(code),"description":"\#(words)"},"stream":"APNS_Z0","seq":0}"#
  }

  private func information(_ changes: (String, String)...) -> String {
    var text = #"""
      {"type":"io.nats.jetstream.api.v1.stream_info_response","total":0,"offset":0,"limit":0,"config":{"name":"APNS_Z0","subjects":["apns.log.0"],"retention":"limits","max_consumers":-1,"max_msgs":-1,"max_bytes":-1,"max_age":0,"max_msgs_per_subject":-1,"max_msg_size":-1,"discard":"new","storage":"file","num_replicas":1,"duplicate_window":100000000,"allow_direct":true,"mirror_direct":false,"sealed":false,"deny_delete":true,"deny_purge":false,"allow_rollup_hdrs":false},"created":"2026-11-22T23:04:18.327843072Z","state":{"messages":2,"bytes":213,"first_seq":1,"first_ts":"2026-11-22T23:04:18.329067806Z","last_seq":2,"last_ts":"2026-11-22T23:04:18.329309107Z","num_subjects":1,"consumer_count":0}}
      """#
    for (old, new) in changes { text = text.replacing(old, with: new) }
    return text
  }

  @Test func asksForAStreamThatForgetsNothing() {
    let request = JetStreamRequest.create(configuration)
    #expect(request.subject == "$JS.API.STREAM.CREATE.APNS_Z0")
    #expect(
      String(decoding: request.payload, as: UTF8.self)
        == #"{"name":"APNS_Z0","subjects":["apns.log.0"],"retention":"limits","discard":"new","max_age":0,"#
        + #""max_msgs":-1,"max_bytes":-1,"max_msgs_per_subject":-1,"storage":"file","num_replicas":1,"#
        + #""allow_direct":true,"deny_delete":true,"duplicate_window":100000000}"#)
  }

  @Test(
    arguments: [
      (.information(stream: "S"), "$JS.API.STREAM.INFO.S", ""),
      (.purge(stream: "S", before: 7), "$JS.API.STREAM.PURGE.S", #"{"seq":7}"#),
      (.delete(stream: "S"), "$JS.API.STREAM.DELETE.S", ""),
      (.message(stream: "S", sequence: 9), "$JS.API.STREAM.MSG.GET.S", #"{"seq":9}"#),
    ] as [(JetStreamRequest, String, String)])
  func asks(request: JetStreamRequest, subject: String, payload: String) {
    #expect(request.subject == subject)
    #expect(String(decoding: request.payload, as: UTF8.self) == payload)
  }

  @Test func readsAStream() throws {
    let state = try answer(information()).state(of: configuration)
    #expect(state.created == "2026-11-22T23:04:18.327843072Z" && state.differences.isEmpty)
    #expect((state.firstSequence, state.lastSequence) == (1, 2))
    #expect((state.messages, state.bytes) == (2, 213))
  }

  /// As nats-server 2.9.10 answers the second of two that make a stream at once.
  @Test func aStreamThatIsBeingMadeIsNotThereYet() throws {
    let text = information(("2026-11-22T23:04:18.327843072Z", "0001-01-01T00:00:00Z"))
    #expect(throws: JetStreamFailure.late) { try answer(text).state(of: configuration) }
  }

  @Test func saysWhatAStreamHasOtherwise() throws {
    let text = information((#""max_age":0"#, #""max_age":60000000000"#), (#""new""#, #""old""#))
    let state = try answer(text).state(of: configuration)
    #expect(
      state.differences == [#"discard: expected "new", got "old""#, "max_age: expected 0, got 60000000000"])
  }

  @Test func readsWhatAnAppendHasGot() throws {
    #expect(try answer(#"{"stream":"APNS_Z0", "seq":5}"#).appended(to: "APNS_Z0") == 5)
    #expect(throws: JetStreamFailure.wrongLastSequence(17)) {
      try answer(error(10071, "wrong last sequence: 17")).appended(to: "APNS_Z0")
    }
    #expect(throws: JetStreamFailure.refused(code: 10060, words: "expected stream does not match")) {
      try answer(error(10060, "expected stream does not match")).appended(to: "APNS_Z0")
    }
    #expect(throws: JetStreamFailure.nobodyListens) { try NATSAnswer.nobodyListens.appended(to: "APNS_Z0") }
    #expect(throws: JetStreamFailure.late) { try NATSAnswer.late.appended(to: "APNS_Z0") }
    for text in [
      "", "[]", #"{"stream":"OTHER","seq":5}"#, #"{"stream":"APNS_Z0","seq":-1}"#, #"{"error":{}}"#,
    ] {
      #expect(throws: JetStreamFailure.self) { try answer(text).appended(to: "APNS_Z0") }
    }
  }

  @Test func readsOneMessage() throws {
    func text(_ message: String) -> String {
      #"{"type":"io.nats.jetstream.api.v1.stream_msg_get_response","message":\#(message)}"#
    }
    // "NATS/1.0\r\nA: b\r\n\r\n", "one"
    let whole = text(
      #"{"subject":"s","seq":1,"hdrs":"TkFUUy8xLjANCkE6IGINCg0K","data":"b25l","time":"2026-11-22T23:04:18Z"}"#
    )
    #expect(
      try answer(whole).record()
        == JetStreamRecord(sequence: 1, headers: ["A": "b"], payload: Array("one".utf8)))
    let bare = try answer(text(#"{"subject":"s","seq":7,"time":"2026-11-22T23:04:18Z"}"#)).record()
    #expect(bare == JetStreamRecord(sequence: 7, payload: []))
    #expect(throws: JetStreamFailure.refused(code: 10037, words: "no message found")) {
      try answer(error(10037, "no message found")).record()
    }
    for broken in [
      "", text("1"), text(#"{"data":"b25l"}"#), text(#"{"seq":1,"data":"?"}"#), text(#"{"seq":1,"data":2}"#),
      text(#"{"seq":1,"hdrs":"b25l"}"#),
    ] {
      #expect(throws: JetStreamFailure.self) { try answer(broken).record() }
    }
  }

  @Test func saysWhatIsPending() throws {
    #expect(try answer(#"{"stream_name":"S","num_pending":7}"#).pending() == 7)
    #expect(throws: JetStreamFailure.self) { try answer(#"{"stream_name":"S"}"#).pending() }
  }

  @Test func knowsWhatPasses() {
    let passing: [JetStreamFailure] = [.nobodyListens, .late, .refused(code: 10008, words: "")]
    let lasting: [JetStreamFailure] = [
      .wrongLastSequence(1), .malformed(""), .tooLarge(2, limit: 1), .unsuitable(""),
      .refused(code: 10023, words: ""),
    ]
    #expect(passing.map(\.isPassing) == [true, true, true])
    #expect(lasting.map(\.isPassing) == [false, false, false, false, false])
    #expect(throws: JetStreamFailure.tooLarge(2, limit: 1)) { try NATSAnswer.tooLarge(2, limit: 1).pending() }
  }

  @Test func appendsOnlyBehindWhatItKnows() {
    #expect(
      AppendCondition.headers(lastSequence: 0, stream: "APNS_Z0")
        == ["Nats-Expected-Stream": "APNS_Z0", "Nats-Expected-Last-Sequence": "0"])
  }
}

@Suite struct JetStreamDeliveryTests {
  private func message(_ reply: String?, _ headers: NATSHeaders? = nil, _ payload: String = "") -> NATSMessage
  {
    NATSMessage(
      subject: "apns.log.0", subscription: 2, reply: reply, headers: headers, payload: Array(payload.utf8))
  }

  private func place(_ sequence: Int, _ delivery: Int, pending: Int = 0) -> String {
    "$JS.ACK.APNS_Z0.t1dgba0I.1.\(sequence).\(delivery).1795388658329067806.\(pending)"
  }

  private func word(_ words: String, _ fields: NATSHeaders) -> NATSHeaders {
    var headers = fields
    (headers.status, headers.words) = (100, words)
    return headers
  }

  @Test func takesMessagesInOrder() throws {
    var reader = JetStreamDelivery(from: 3)
    let first = try reader.take(message(place(3, 1, pending: 2), ["A": "b"], "one"))
    #expect(first == .record(JetStreamRecord(sequence: 3, headers: ["A": "b"], payload: Array("one".utf8))))
    #expect(reader.pending == 2)
    // Sequences that were purged or deleted are no gap.
    let second = try reader.take(message(place(7, 2), nil, "two"))
    #expect(second == .record(JetStreamRecord(sequence: 7, payload: Array("two".utf8))))
    #expect(reader.next == 8)
    let idle = word("Idle Heartbeat", ["Nats-Last-Consumer": "2", "Nats-Last-Stream": "7"])
    #expect(try reader.take(message(nil, idle)) == .idle)
    #expect(
      try reader.take(message("$JS.FC.APNS_Z0.x.1", word("FlowControl Request", [:])))
        == .flowControl(reply: "$JS.FC.APNS_Z0.x.1"))
  }

  @Test func findsAGap() throws {
    var missing = JetStreamDelivery(from: 1)
    _ = try missing.take(message(place(1, 1)))
    #expect(throws: JetStreamFailure.self) { try missing.take(message(place(3, 3))) }
    var unheard = JetStreamDelivery(from: 1)
    #expect(throws: JetStreamFailure.self) {
      try unheard.take(message(nil, word("Idle Heartbeat", ["Nats-Last-Consumer": "1"])))
    }
    var backwards = JetStreamDelivery(from: 5)
    #expect(throws: JetStreamFailure.self) { try backwards.take(message(place(4, 1))) }
    var placeless = JetStreamDelivery(from: 1)
    #expect(throws: JetStreamFailure.self) { try placeless.take(message("reply")) }
  }

  @Test(arguments: [(UInt64.max, 1 as UInt64), (1 << 62 + 1, 1), (1, .max)])
  func refusesPlacesThatNoStreamHasComeTo(sequence: UInt64, delivery: UInt64) {
    var reader = JetStreamDelivery(from: 1)
    #expect(throws: JetStreamFailure.self) {
      try reader.take(message("$JS.ACK.APNS_Z0.t1.1.\(sequence).\(delivery).1.0"))
    }
  }
}
