import Basics
import LegacyWire
import Testing

@testable import Transport

/// A provider of the binary era. Sends what it is told, reads until the end.
final class LegacyClient {
  let recorder = Recorder()
  let connection: SocketConnection
  private let harness: EmulatorHarness

  init(
    _ harness: EmulatorHarness, listener: String = "gateway", _ certificate: ClientCertificate?,
    serverName: String? = nil, context: TLSContext? = nil
  ) throws {
    self.harness = harness
    connection = try harness.connect(
      listener, as: recorder, context: try context ?? harness.context(certificate), serverName: serverName)
  }

  /// Waits for the handshake.
  func open(sourceLocation: SourceLocation = #_sourceLocation) throws {
    harness.turn(until: "TLS is up", sourceLocation: sourceLocation) {
      recorder.hasOpened || recorder.hasEnded
    }
    try #require(recorder.hasOpened, "\(recorder.endReason ?? "")", sourceLocation: sourceLocation)
  }

  func send(_ bytes: [UInt8]) { connection.send(bytes) }

  /// Sends pieces of the sizes given, each in a turn and a TLS record of its own.
  func send(_ bytes: [UInt8], in sizes: some Sequence<Int>) {
    var rest = bytes[...]
    for size in sizes where !rest.isEmpty {
      connection.send(Array(rest.prefix(size)))
      rest = rest.dropFirst(size)
      harness.loop.runTurn(wait: false)
    }
    connection.send(Array(rest))
  }

  /// Waits for the end of the stream, which must be an orderly one, and answers all that came.
  func readToEnd(sourceLocation: SourceLocation = #_sourceLocation) -> [UInt8] {
    harness.turn(until: "the stream ends", sourceLocation: sourceLocation) { recorder.hasEnded }
    #expect(recorder.sawClose, "\(recorder.endReason ?? "")", sourceLocation: sourceLocation)
    return recorder.received
  }
}

extension SocketConnection {
  /// A half-close of TLS: says that nothing more comes, and reads on.
  func endOutput() { _ = layer.sendClose() }
}

extension EmulatorHarness {
  /// A provider on the gateway, past the handshake.
  func provider(
    _ certificate: ClientCertificate? = nil, serverName: String? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> LegacyClient {
    let client = try LegacyClient(self, certificate ?? .app(), serverName: serverName)
    try client.open(sourceLocation: sourceLocation)
    return client
  }

  /// What the feedback service tells.
  func readFeedback(
    _ certificate: ClientCertificate? = nil, serverName: String? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> [FeedbackTuple] {
    let client = try LegacyClient(
      self, listener: "feedback", certificate ?? .app(), serverName: serverName)
    try client.open(sourceLocation: sourceLocation)
    var bytes = client.readToEnd(sourceLocation: sourceLocation)
    let tuples = FeedbackTuple.take(from: &bytes)
    #expect(bytes.isEmpty, "half a tuple", sourceLocation: sourceLocation)
    return tuples
  }
}
