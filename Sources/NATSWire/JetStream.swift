import Basics

/// What can be asked of JetStream: a subject and a JSON document (docs.nats.io, "JetStream wire API").
public enum JetStreamRequest: Equatable, Sendable {
  /// Makes a stream; the same again is no error, another of the same name is.
  case create(JetStreamConfiguration)
  case information(stream: String)
  /// Forgets what lies before a sequence.
  case purge(stream: String, before: UInt64)
  case delete(stream: String)
  /// One message, by its sequence, from the stream's leader: another replica may not have what was appended last, and would say
  /// that there is no such message.
  case message(stream: String, sequence: UInt64)
  /// All from a sequence on, in order, to a subject that the client has subscribed to literally: under a wildcard nothing comes.
  case deliver(stream: String, from: UInt64, to: String)

  public var subject: String {
    switch self {
    case .create(let configuration): "$JS.API.STREAM.CREATE.\(configuration.name)"
    case .information(let stream): "$JS.API.STREAM.INFO.\(stream)"
    case .purge(let stream, _): "$JS.API.STREAM.PURGE.\(stream)"
    case .delete(let stream): "$JS.API.STREAM.DELETE.\(stream)"
    case .message(let stream, _): "$JS.API.STREAM.MSG.GET.\(stream)"
    case .deliver(let stream, _, _): "$JS.API.CONSUMER.CREATE.\(stream)"
    }
  }

  public var payload: [UInt8] {
    switch self {
    case .create(let configuration): configuration.document.encoded
    case .information, .delete: []
    case .purge(_, let sequence), .message(_, let sequence): Self.sequence(sequence).encoded
    case .deliver(let stream, let first, let subject): Self.consumer(stream, first, subject).encoded
    }
  }

  private static func sequence(_ sequence: UInt64) -> JSONValue {
    ["seq": .integer(Int64(clamping: sequence))]
  }

  /// Ordered: nothing is acknowledged or sent twice, so that a gap in the numbers is found by who reads. It ends by itself when
  /// nobody listens any more.
  private static func consumer(_ stream: String, _ first: UInt64, _ subject: String) -> JSONValue {
    [
      "stream_name": .string(stream),
      "config": [
        "deliver_subject": .string(subject), "deliver_policy": "by_start_sequence",
        "opt_start_seq": .integer(Int64(clamping: max(1, first))), "ack_policy": "none", "max_deliver": 1,
        "flow_control": true, "idle_heartbeat": 1_000_000_000, "inactive_threshold": 5_000_000_000,
        "mem_storage": true, "num_replicas": 1,
      ],
    ]
  }
}

/// A stream that forgets nothing by itself and refuses what it has no room for.
public struct JetStreamConfiguration: Equatable, Sendable {
  public var name: String
  public var subject: String
  public var replicas: Int

  public init(name: String, subject: String, replicas: Int = 1) {
    (self.name, self.subject, self.replicas) = (name, subject, replicas)
  }

  /// The shortest window in which equal ids would count as one message: we send none, and rely on none.
  private static let duplicateWindow: Int64 = 100_000_000

  /// What matters in it, in the order of writing. A stream that has it otherwise is not ours.
  private var demands: [(String, JSONValue)] {
    [
      ("name", .string(name)), ("subjects", [.string(subject)]), ("retention", "limits"), ("discard", "new"),
      ("max_age", 0), ("max_msgs", -1), ("max_bytes", -1), ("max_msgs_per_subject", -1), ("storage", "file"),
      ("num_replicas", .integer(Int64(replicas))), ("allow_direct", true), ("deny_delete", true),
    ]
  }

  var document: JSONValue {
    .object(demands + [("duplicate_window", .integer(Self.duplicateWindow))])
  }

  /// What a stream has otherwise than it must, as `name: expected …, got …`.
  func differences(from found: JSONValue) -> [String] {
    demands.compactMap { name, wanted in
      let got = found.member(name) ?? .null
      return got.text == wanted.text ? nil : "\(name): expected \(wanted.text), got \(got.text.prefix(80))"
    }
  }
}

/// What JetStream says to a request.
public enum JetStreamFailure: Error, Equatable, Sendable, CustomStringConvertible {
  /// In its own numbers and words, such as 10059 for a stream that is not there.
  case refused(code: Int, words: String)
  /// Another message than expected was appended meanwhile; `last` is the sequence that the stream has reached.
  case wrongLastSequence(UInt64)
  /// No JetStream, no such subject, or no leader for the stream at the moment.
  case nobodyListens
  /// Whether it was done is not known.
  case late
  case malformed(String)
  /// Not sent: larger than the server takes, in bytes with its headers.
  case tooLarge(Int, limit: Int)
  /// The server, or the stream, is not what it must be.
  case unsuitable(String)
  /// The message is there, and was not written by who knows the cluster's secret; `isSealed` if it has a code by another.
  case alien(isSealed: Bool)

  public static let wrongLastSequenceCode = 10071
  public static let streamNotFoundCode = 10059
  public static let messageNotFoundCode = 10037
  public static let subjectsOverlapCode = 10065
  /// A cluster that has no leader, or not all of its servers, or not this stream's (nats-server, errors.json).
  private static let passingCodes: Set = [10004, 10007, 10008, 10009, 10118, 10119]

  /// Whether it may be otherwise in a moment, without anybody doing something about it.
  public var isPassing: Bool {
    switch self {
    case .refused(let code, _): Self.passingCodes.contains(code)
    case .nobodyListens, .late: true
    case .wrongLastSequence, .malformed, .tooLarge, .unsuitable, .alien: false
    }
  }

  public var description: String {
    switch self {
    case .refused(let code, let words): "JetStream refuses: \(words) (\(code))"
    case .wrongLastSequence(let last): "another client has appended: the stream is at \(last)"
    case .nobodyListens: "JetStream is not there, or has no leader for the stream"
    case .late: "JetStream did not answer in time"
    case .malformed(let what): "expected an answer of JetStream, got \(what)"
    case .tooLarge(let size, let limit):
      "expected a NATS server that takes messages of \(size) bytes, got one that takes \(limit): raise its max_payload"
    case .unsuitable(let why): why
    case .alien: "it was written without the secret of --cluster-secret"
    }
  }
}

/// A stream as it is.
public struct JetStreamState: Equatable, Sendable {
  /// When it was made, in the server's words: another stream of the same name has another.
  public var created: String
  /// The oldest message that is kept; one more than the last where there is none.
  public var firstSequence: UInt64
  /// The newest there has been; 0 in a new stream.
  public var lastSequence: UInt64
  public var messages: UInt64
  public var bytes: UInt64
  /// What is otherwise than it must be, each as a sentence.
  public var differences: [String]
}

/// A message as it lies in a stream.
public struct JetStreamRecord: Equatable, Sendable {
  /// Largest sequence that is taken: whoever reads counts on from it, and no stream has come that far.
  public static let sequenceLimit: UInt64 = 1 << 62

  public var sequence: UInt64
  public var headers: NATSHeaders
  public var payload: [UInt8]

  public init(sequence: UInt64, headers: NATSHeaders = [:], payload: [UInt8]) {
    (self.sequence, self.headers, self.payload) = (sequence, headers, payload)
  }
}

extension NATSAnswer {
  private func message() throws(JetStreamFailure) -> NATSMessage {
    switch self {
    case .message(let message): return message
    case .nobodyListens: throw .nobodyListens
    case .late: throw .late
    case .tooLarge(let size, let limit): throw .tooLarge(size, limit: limit)
    }
  }

  /// The document of an answer that is no error.
  private func document() throws(JetStreamFailure) -> JSONValue {
    let payload = try message().payload
    guard let document = JSONReader.read(payload), document.isObject else {
      throw .malformed("no JSON object")
    }
    guard let error = document.member("error"), error.isObject else { return document }
    throw Self.failure(error)
  }

  private static func failure(_ error: JSONValue) -> JetStreamFailure {
    guard let code = error.member("err_code")?.integer, let words = error.string("description") else {
      return .malformed("an error without code or description")
    }
    // "wrong last sequence: 17"
    if code == JetStreamFailure.wrongLastSequenceCode,
      let last = words.split(separator: " ").last.flatMap({ UInt64($0) })
    {
      return .wrongLastSequence(last)
    }
    return .refused(code: Int(code), words: words)
  }

  /// The sequence that an append has got.
  public func appended(to stream: String) throws(JetStreamFailure) -> UInt64 {
    let document = try document()
    guard document.string("stream") == stream, let sequence = document.sequence("seq"), sequence > 0 else {
      throw .malformed("no sequence in \(stream)")
    }
    return sequence
  }

  /// Go's zero time, which stands for none.
  private static let neverMade = "0001-01-01T00:00:00Z"

  /// What `create` and `information` answer; `late` while the stream is still being made.
  public func state(of configuration: JetStreamConfiguration) throws(JetStreamFailure) -> JetStreamState {
    let document = try document()
    guard let created = document.string("created"), let state = document.member("state"),
      let found = document.member("config"), found.isObject, let first = state.sequence("first_seq"),
      let last = state.sequence("last_seq"), let messages = state.unsigned("messages"),
      let bytes = state.unsigned("bytes")
    else { throw .malformed("a stream without its state") }
    // Whoever makes a stream while somebody else does is answered before it is made (nats-server 2.9.10).
    guard created != Self.neverMade else { throw .late }
    return JetStreamState(
      created: created, firstSequence: max(first, 1), lastSequence: last, messages: messages, bytes: bytes,
      differences: configuration.differences(from: found))
  }

  /// What `deliver` answers: how many messages there are to be delivered.
  public func pending() throws(JetStreamFailure) -> UInt64 {
    guard let pending = try document().unsigned("num_pending") else {
      throw .malformed("a consumer without what is pending")
    }
    return pending
  }

  /// What `purge` and `delete` answer.
  public func isDone() throws(JetStreamFailure) { _ = try document() }

  /// What `message` answers: the message itself, in Base64.
  public func record() throws(JetStreamFailure) -> JetStreamRecord {
    guard let found = try document().member("message"), let sequence = found.sequence("seq"),
      let payload = found.bytes("data"), let head = found.bytes("hdrs")
    else { throw .malformed("no message, or one without its sequence") }
    do {
      let headers = try head.isEmpty ? [:] : NATSHeaders(head.span)
      return JetStreamRecord(sequence: sequence, headers: headers, payload: payload)
    } catch { throw .malformed("a message: \(error)") }
  }
}

extension JSONValue {
  fileprivate var isObject: Bool { if case .object = self { true } else { false } }
  fileprivate func unsigned(_ name: String) -> UInt64? {
    member(name)?.integer.flatMap { UInt64(exactly: $0) }
  }
  fileprivate func sequence(_ name: String) -> UInt64? {
    unsigned(name).flatMap { $0 <= JetStreamRecord.sequenceLimit ? $0 : nil }
  }
  /// Base64; nothing where there is no such member, as the server leaves out what is empty.
  fileprivate func bytes(_ name: String) -> [UInt8]? {
    switch member(name) {
    case nil: []
    case .string(let text)?: Base64.decode(text.utf8)
    default: nil
    }
  }
}

/// What comes to the subject of `JetStreamRequest.deliver`: messages in order, and words of the server's between them.
///
///     var reader = JetStreamDelivery(from: 1)
///     switch try reader.take(message) { … }
public struct JetStreamDelivery: Sendable {
  public enum Event: Equatable, Sendable {
    case record(JetStreamRecord)
    /// The server waits until something is published to this subject: how it learns how fast we read.
    case flowControl(reply: String)
    /// Nothing new; this was the last, for who has missed something.
    case idle
  }

  /// The next sequence that may come.
  public private(set) var next: UInt64
  /// Counts deliveries: a gap here is a message that was lost on the way, where gaps between sequences are none.
  private var delivered: UInt64 = 0
  /// How many there were still when the last came.
  public private(set) var pending: UInt64?

  public init(from next: UInt64) { self.next = next }

  /// Understands a message of the subscription.
  public mutating func take(_ message: NATSMessage) throws(JetStreamFailure) -> Event {
    if let status = message.headers?.status {
      guard status == 100 else { throw .malformed("status \(status) among messages") }
      if let reply = message.reply ?? message.headers?["Nats-Consumer-Stalled"] {
        return .flowControl(reply: reply)
      }
      guard message.headers?["Nats-Last-Consumer"].flatMap({ UInt64($0) }) ?? delivered == delivered else {
        throw .malformed("a gap before delivery \(delivered + 1)")
      }
      return .idle
    }
    let place = try Place(message.reply)
    guard place.delivery == delivered + 1, place.sequence >= next else {
      throw .malformed("delivery \(place.delivery) of sequence \(place.sequence) behind \(delivered)")
    }
    (delivered, next, pending) = (place.delivery, place.sequence + 1, place.pending)
    return .record(
      JetStreamRecord(sequence: place.sequence, headers: message.headers ?? [:], payload: message.payload))
  }

  /// Where a message stands: `$JS.ACK.<stream>.<consumer>.<times>.<sequence>.<delivery>.<time>.<pending>`.
  private struct Place {
    var sequence, delivery, pending: UInt64

    init(_ reply: String?) throws(JetStreamFailure) {
      // By bytes: each record of each log comes by here, and characters cost a twentieth of what a node reads.
      let words = (reply ?? "").utf8.split(separator: UInt8(ascii: "."))
      guard words.count == 9, words[0].elementsEqual("$JS".utf8), words[1].elementsEqual("ACK".utf8),
        let sequence = UInt64(Substring(words[5])), sequence <= JetStreamRecord.sequenceLimit,
        let delivery = UInt64(Substring(words[6])), delivery <= JetStreamRecord.sequenceLimit,
        let pending = UInt64(Substring(words[8]))
      else { throw .malformed("a message that does not say where it stands") }
      (self.sequence, self.delivery, self.pending) = (sequence, delivery, pending)
    }
  }
}

/// Header fields of an append, by which it is made only if nobody else has appended meanwhile.
public enum AppendCondition {
  /// `0` for the first message of a stream.
  public static func headers(lastSequence: UInt64, stream: String) -> NATSHeaders {
    ["Nats-Expected-Stream": stream, "Nats-Expected-Last-Sequence": String(lastSequence)]
  }
}
