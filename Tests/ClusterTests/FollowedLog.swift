import NATSWire
import Testing
import Transport

import Cluster

/// A log that is followed, and what was heard of it.
final class FollowedLog {
  let line: Line
  let log: LogStream
  private(set) var events: [LogStream.Event] = []

  init(_ line: Line, _ name: String = "APNS_Z0", largestRecord: Int = 1_000_000) {
    self.line = line
    log = LogStream(
      client: line.client, loop: line.loop,
      configuration: JetStreamConfiguration(name: name, subject: "apns.log.\(name)"),
      largestRecord: largestRecord)
  }

  /// Opened and followed.
  convenience init(open line: Line) throws {
    self.init(line)
    _ = try open().get()
    follow()
  }

  func open() throws -> Result<JetStreamState, JetStreamFailure> {
    try answer { log.open(done: $0) }
  }

  func follow(from first: UInt64 = 1) {
    log.follow(from: first) { [unowned self] in events.append($0) }
  }

  func append(_ text: String, behind last: UInt64) throws -> Result<UInt64, JetStreamFailure> {
    try answer { log.append(Array(text.utf8), behind: last, done: $0) }
  }

  /// As a lease does: the same bytes behind the same sequence, until NATS has said what became of them.
  func appendForSure(_ text: String, behind last: UInt64) throws -> UInt64 {
    while true {
      switch try append(text, behind: last) {
      case .success(let sequence): return sequence
      case .failure(.wrongLastSequence(last + 1)): return last + 1
      case .failure(let failure):
        guard failure.isPassing else { throw failure }
        line.loop.runTurn()
      }
    }
  }

  func answer<Value>(_ ask: (@escaping (Result<Value, JetStreamFailure>) -> Void) -> Void) throws
    -> Result<Value, JetStreamFailure>
  {
    var answer: Result<Value, JetStreamFailure>?
    ask { answer = $0 }
    return try line.wait(until: "an answer") { answer }
  }

  func wait(until what: String, _ condition: () -> Bool) throws {
    _ = try line.wait(until: what) { condition() ? true : nil }
  }

  var sequences: [UInt64] {
    events.compactMap { if case .record(let record) = $0 { record.sequence } else { nil } }
  }
  var texts: [String] {
    events.compactMap {
      if case .record(let record) = $0 { String(decoding: record.payload, as: UTF8.self) } else { nil }
    }
  }
  func count(_ event: LogStream.Event) -> Int { events.count { $0 == event } }
}
