import Basics
import Credentials
import LegacyWire
import Platform
import Replay
import TestSupport
import Testing
import Transport

@Suite("Replay over the gateway")
struct LegacyLaneTests {
  private static let timeout: Int64 = 20_000_000_000
  private static let packetStatus: UInt8 = 5

  /// Writes down what comes.
  private final class Gateway: ConnectionHandler {
    private(set) var connection: SocketConnection?
    private(set) var received: [UInt8] = []

    func connectionOpened(_ connection: SocketConnection) { self.connection = connection }
    func connection(_ connection: SocketConnection, received bytes: Span<UInt8>) {
      received.append(bytes)
    }
    func connectionClosed(_ connection: SocketConnection, reason: String) { self.connection = nil }
  }

  private let loop: EventLoop
  private let gateway = Gateway()
  private let listener: SocketListener
  /// Takes connections and says nothing, so that no handshake on it ends.
  private let silent: SocketListener
  private let client: TLSContext

  init() throws {
    let folder = try CertsFolder(
      path: RunFolder.make(now: Timestamp(nanoseconds: SystemClock.wallNanoseconds())))
    loop = try #require(EventLoop())
    client = try TLSContext.client(ca: folder.ca.certificate, policy: TLSPolicy())
    let context = try TLSContext.server(
      certificate: folder.server.certificate, key: folder.server.key, policy: TLSPolicy())
    let address = SocketAddress(host: "127.0.0.1", port: 0)
    listener = try SocketListener(loop: loop, address: address, context: context) { [gateway] _ in gateway }
    silent = try SocketListener(loop: loop, address: address, context: nil) { _ in Gateway() }
  }

  /// Counts what a lane tells.
  private final class Owner: LaneOwner {
    private(set) var (settled, ended) = (0, 0)

    func settled(_ push: ReplayedPush) { settled += 1 }
    func silences(_ count: Int) { settled += count }
    func progressed() {}
    func failed(_ lane: any ReplayLane, _ why: String) { Issue.record("\(why)") }
    func ended(_ lane: any ReplayLane) { ended += 1 }
  }

  private func turn(until what: Comment, _ condition: () -> Bool) {
    let end = SystemClock.now().adding(nanoseconds: Self.timeout)
    let heartbeat = LoopEvent(timerOn: loop) {}
    while !condition() {
      guard SystemClock.now() < end else {
        Issue.record("waited in vain until \(what)")
        return
      }
      heartbeat.start(afterNanoseconds: 10_000_000)
      loop.runTurn()
    }
  }

  @Test("a lane that learns its last outcome while it connects anew is done, once")
  func doneOnce() throws {
    var addresses = [listener.address, silent.address][...]
    let owner = Owner()
    let lane = LegacyLane(of: owner, to: listener.address, recordedForm: .legacy) {
      [loop, client] handler in
      let address = addresses.popFirst()
      return try TLSClient.connect(
        loop: loop, to: try #require(address), serverName: "localhost", context: client, handler: handler)
    }
    let frame = LegacyEncoder.enhanced(
      identifier: 1, expiration: 0, token: [UInt8](repeating: 7, count: 32), payload: Array("{}".utf8))
    lane.push(frame.span, tag: 0, recorded: nil)
    turn(until: "it is sent") { gateway.received.count >= frame.count }
    lane.confirm()
    turn(until: "the fence is here") { gateway.received.count > frame.count }
    lane.finish()
    #expect(owner.settled == 0 && owner.ended == 0)
    let fence = gateway.received[(frame.count + 1)...].prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    gateway.connection?.send(LegacyErrorPacket(status: Self.packetStatus, identifier: fence).bytes)
    turn(until: "it is done") { owner.ended > 0 }
    #expect(owner.settled == 1 && owner.ended == 1 && addresses.isEmpty)
  }
}
