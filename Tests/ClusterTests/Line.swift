import Basics
import NATSWire
import Platform
import Testing
import Transport

import Cluster

/// A client on a loop, of its own unless told otherwise, which turns until what is waited for is there.
final class Line {
  /// What the client has told of itself.
  private final class States {
    var all: [NATSClient.State] = []
  }

  let loop: EventLoop
  let client: NATSClient
  private let heard = States()

  convenience init(to server: NATSServer, credentials: NATSCredentials? = nil, on loop: EventLoop? = nil)
    throws
  {
    let settings = NATSClient.Settings(
      servers: [NATSAddress(server.address)],
      NATSIntroduction(name: "test", software: "1", credentials: credentials))
    try self.init(settings, on: loop)
  }

  init(_ settings: NATSClient.Settings, on shared: EventLoop? = nil) throws {
    loop = try #require(shared ?? EventLoop())
    client = NATSClient(loop: loop, settings: settings)
    _ = client.watch(changed: { [heard] in heard.all.append($0) })
    client.start()
  }

  var states: [NATSClient.State] { heard.all }
  var state: NATSClient.State? { heard.all.last }

  deinit { client.close() }

  struct TimedOut: Error { let what: String }

  func wait<Value>(until what: String, _ value: () throws -> Value?) throws -> Value {
    let deadline = SystemClock.now().adding(nanoseconds: 20_000_000_000)
    while true {
      if let value = try value() { return value }
      guard SystemClock.now() < deadline else { throw TimedOut(what: what) }
      loop.runTurn()
    }
  }

  func waitUntilReady() throws {
    _ = try wait(until: "the server lets us in") { if case .ready? = state { true } else { nil } }
  }

  func answer(_ request: JetStreamRequest) throws -> NATSAnswer {
    var answer: NATSAnswer?
    client.request(request, within: 5_000_000_000) { answer = $0 }
    return try wait(until: "an answer to \(request.subject)") { answer }
  }

  func append(_ text: String, behind last: UInt64) throws -> NATSAnswer {
    var answer: NATSAnswer?
    client.request(
      "apns.log.0", headers: AppendCondition.headers(lastSequence: last, stream: "APNS_Z0"), Array(text.utf8),
      within: 5_000_000_000
    ) { answer = $0 }
    return try wait(until: "an answer to an append") { answer }
  }
}
