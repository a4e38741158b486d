import Basics

/// What comes to the subject of `JetStreamRequest.deliver`: messages in order, and words of the server's between them.
///
///     var reader = JetStreamDelivery(from: 1)
///     switch try reader.take(message) { … }
package struct JetStreamDelivery: Sendable {
  package enum Event: Equatable, Sendable {
    case record(JetStreamRecord)
    /// The server waits until something is published to this subject: how it learns how fast we read.
    case flowControl(reply: String)
    /// Nothing new; this was the last, for who has missed something.
    case idle
  }

  /// The next sequence that may come.
  package private(set) var next: UInt64
  /// Counts deliveries: a gap here is a message that was lost on the way, where gaps between sequences are none.
  private var delivered: UInt64 = 0
  /// How many there were still when the last came.
  package private(set) var pending: UInt64?

  package init(from next: UInt64) { self.next = next }

  /// Understands a message of the subscription.
  package mutating func take(_ message: NATSMessage) throws(JetStreamFailure) -> Event {
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
package enum AppendCondition {
  /// `0` for the first message of a stream.
  package static func headers(lastSequence: UInt64, stream: String) -> NATSHeaders {
    ["Nats-Expected-Stream": stream, "Nats-Expected-Last-Sequence": String(lastSequence)]
  }
}
