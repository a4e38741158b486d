import NATSWire
import Platform
import PushModel
import Transport
import Zones

/// Sets one message of a zone's log aside, at the engine itself, as no node may be left to ask: nodes that join from then on pass over it,
/// and over what is missing up to the next record. The message stays where it is.
public enum ClusterRepair {
  private static let patience: Int64 = 10_000_000_000
  private static let step: Int64 = 50_000_000
  private static let shownBytes = 24

  /// Turns the loop until it is done; answers what was set aside, as a sentence. Throws a sentence.
  public static func run(
    loop: EventLoop, engine: NATSClient.Settings, _ settings: NodeSettings, zone: Int, sequence: UInt64
  ) throws -> String {
    let client = NATSClient(loop: loop, settings: engine) { _ in }
    client.start()
    defer { client.close() }
    func open(_ configuration: JetStreamConfiguration, isMade: Bool) throws -> LogStream {
      let log = LogStream(client: client, loop: loop, configuration: configuration, seal: settings.seal)
      _ = try wait(client, loop) { log.open(isMade: isMade, done: $0) }
      return log
    }
    let zone = ZoneNumber(zone)
    let log = try open(settings.names.log(of: zone, replicas: settings.replicas), isMade: false)
    let found: JetStreamRecord = try wait(client, loop) { log.readBack(sequence, done: $0) }
    let repairs = try open(settings.names.repairs(replicas: settings.replicas), isMade: true)
    let document = SetAside.document(zone, madeAt: log.created ?? "", sequence)
    let number = try wait(client, loop) { repairs.appendAtEnd(document.encoded, behind: 0, done: $0) }
    guard number <= SetAside.limit else {
      throw ClusterJoin.Refusal(
        description: "\(SetAside.limit) messages are set aside already: make the cluster anew")
    }
    return "message \(sequence) of \(log.configuration.name) is set aside, \(found.payload.count) bytes: "
      + Hex.encode(found.payload.prefix(shownBytes)) + (found.payload.count > shownBytes ? "…" : "")
  }

  private static func wait<Value>(
    _ client: NATSClient, _ loop: EventLoop,
    _ begin: (@escaping (Result<Value, JetStreamFailure>) -> Void) -> Void
  ) throws -> Value {
    let deadline = SystemClock.now().adding(nanoseconds: patience)
    let wakeUp = LoopEvent(timerOn: loop) {}
    var result: Result<Value, JetStreamFailure>?
    begin { result = $0 }
    while result == nil {
      guard SystemClock.now() < deadline else {
        throw ClusterJoin.Refusal(description: client.awayBecause ?? "the engine does not answer")
      }
      wakeUp.start(afterNanoseconds: step)
      loop.runTurn()
    }
    guard let result else { throw ClusterJoin.Refusal(description: "the engine does not answer") }
    return try result.get()
  }
}
