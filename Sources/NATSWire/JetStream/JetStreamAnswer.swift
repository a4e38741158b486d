import Basics

/// What JetStream says to a request.
package enum JetStreamFailure: Error, Equatable, Sendable, CustomStringConvertible {
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

  package static let wrongLastSequenceCode = 10071
  package static let streamNotFoundCode = 10059
  package static let messageNotFoundCode = 10037
  package static let subjectsOverlapCode = 10065
  /// A cluster that has no leader, or not all of its servers, or not this stream's (nats-server, errors.json).
  private static let passingCodes: Set = [10004, 10007, 10008, 10009, 10118, 10119]

  /// Whether it may be otherwise in a moment, without anybody doing something about it.
  package var isPassing: Bool {
    switch self {
    case .refused(let code, _): Self.passingCodes.contains(code)
    case .nobodyListens, .late: true
    case .wrongLastSequence, .malformed, .tooLarge, .unsuitable, .alien: false
    }
  }

  package var description: String {
    switch self {
    case .refused(let code, let words): "JetStream refuses: \(words) (\(code))"
    case .wrongLastSequence(let last): "somebody else has appended: the stream is at \(last)"
    case .nobodyListens: "JetStream is not there, or has no leader for the stream"
    case .late: "JetStream did not answer in time"
    case .malformed(let what): "expected an answer of JetStream, got \(what)"
    case .tooLarge(let size, let limit):
      "expected a NATS server that takes messages of \(size) bytes, got one that takes \(limit): raise its max_payload"
    case .unsuitable(let why): why
    case .alien: "somebody has written it who does not know the secret of --cluster-secret"
    }
  }
}

/// A stream as it is.
package struct JetStreamState: Equatable, Sendable {
  /// When it was made, in the server's words: another stream of the same name has another.
  package var created: String
  /// The oldest message that is kept; one more than the last where there is none.
  package var firstSequence: UInt64
  /// The newest there has been; 0 in a new stream.
  package var lastSequence: UInt64
  package var messages: UInt64
  package var bytes: UInt64
  /// What is otherwise than it must be, each as a sentence.
  package var differences: [String]
}

/// A message as it lies in a stream.
package struct JetStreamRecord: Equatable, Sendable {
  /// Largest sequence that is taken: whoever reads counts on from it, and no stream has come that far.
  package static let sequenceLimit: UInt64 = 1 << 62

  package var sequence: UInt64
  package var headers: NATSHeaders
  package var payload: [UInt8]

  package init(sequence: UInt64, headers: NATSHeaders = [:], payload: [UInt8]) {
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
  private func document() throws(JetStreamFailure) -> JSONObject {
    let payload = try message().payload
    guard case .object(let members)? = JSONReader.read(payload) else {
      throw .malformed("no JSON object")
    }
    let document = JSONObject(members: members)
    guard case .object(let error)? = document["error"] else { return document }
    throw Self.failure(JSONObject(members: error))
  }

  private static func failure(_ error: JSONObject) -> JetStreamFailure {
    guard case .integer(let code)? = error["err_code"], case .string(let words)? = error["description"] else {
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
  package func appended(to stream: String) throws(JetStreamFailure) -> UInt64 {
    let document = try document()
    guard case .string(stream)? = document["stream"], let sequence = document.sequence("seq"), sequence > 0
    else {
      throw .malformed("no sequence in \(stream)")
    }
    return sequence
  }

  /// Go's zero time, which stands for none.
  private static let neverMade = "0001-01-01T00:00:00Z"

  /// What `create` and `information` answer; `late` while the stream is still being made.
  package func state(of configuration: JetStreamConfiguration) throws(JetStreamFailure) -> JetStreamState {
    let document = try document()
    guard case .string(let created)? = document["created"], case .object(let members)? = document["state"],
      case .object(let found)? = document["config"],
      case let state = JSONObject(members: members), let first = state.sequence("first_seq"),
      let last = state.sequence("last_seq"), let messages = state.unsigned("messages"),
      let bytes = state.unsigned("bytes")
    else { throw .malformed("a stream without its state") }
    // Whoever makes a stream while somebody else does is answered before it is made (nats-server 2.9.10).
    guard created != Self.neverMade else { throw .late }
    return JetStreamState(
      created: created, firstSequence: max(first, 1), lastSequence: last, messages: messages, bytes: bytes,
      differences: configuration.differences(from: JSONObject(members: found)))
  }

  /// What `deliver` answers: how many messages there are to be delivered.
  package func pending() throws(JetStreamFailure) -> UInt64 {
    guard let pending = try document().unsigned("num_pending") else {
      throw .malformed("a consumer without what is pending")
    }
    return pending
  }

  /// What `purge` and `delete` answer.
  package func isDone() throws(JetStreamFailure) { _ = try document() }

  /// What `message` answers: the message itself, in Base64.
  package func record() throws(JetStreamFailure) -> JetStreamRecord {
    guard case .object(let members)? = try document()["message"],
      case let found = JSONObject(members: members),
      let sequence = found.sequence("seq"), let payload = found.bytes("data"), let head = found.bytes("hdrs")
    else { throw .malformed("no message, or one without its sequence") }
    do {
      let headers =
        try head.isEmpty
        ? [:] : head.withUnsafeBytes { bytes throws(NATSFailure) in try NATSHeaders(bytes[...]) }
      return JetStreamRecord(sequence: sequence, headers: headers, payload: payload)
    } catch { throw .malformed("a message: \(error)") }
  }
}

extension JSONObject {
  fileprivate func unsigned(_ name: String) -> UInt64? {
    guard case .integer(let value)? = self[name] else { return nil }
    return UInt64(exactly: value)
  }
  fileprivate func sequence(_ name: String) -> UInt64? {
    unsigned(name).flatMap { $0 <= JetStreamRecord.sequenceLimit ? $0 : nil }
  }
  /// Base64; nothing where there is no such member, as the server leaves out what is empty.
  fileprivate func bytes(_ name: String) -> [UInt8]? {
    switch self[name] {
    case nil: []
    case .string(let text)?: Base64.decode(text.utf8)
    default: nil
    }
  }
}
