import Basics

/// What can be asked of JetStream: a subject and a JSON document (docs.nats.io, "JetStream wire API").
package enum JetStreamRequest: Equatable, Sendable {
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

  package var subject: String {
    switch self {
    case .create(let configuration): "$JS.API.STREAM.CREATE.\(configuration.name)"
    case .information(let stream): "$JS.API.STREAM.INFO.\(stream)"
    case .purge(let stream, _): "$JS.API.STREAM.PURGE.\(stream)"
    case .delete(let stream): "$JS.API.STREAM.DELETE.\(stream)"
    case .message(let stream, _): "$JS.API.STREAM.MSG.GET.\(stream)"
    case .deliver(let stream, _, _): "$JS.API.CONSUMER.CREATE.\(stream)"
    }
  }

  package var payload: [UInt8] {
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
package struct JetStreamConfiguration: Equatable, Sendable {
  package var name: String
  package var subject: String
  package var replicas: Int

  package init(name: String, subject: String, replicas: Int = 1) {
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
  func differences(from found: JSONObject) -> [String] {
    demands.compactMap { name, wanted in
      let got = found[name] ?? .null
      return got.text == wanted.text ? nil : "\(name): expected \(wanted.text), got \(got.text.prefix(80))"
    }
  }
}
