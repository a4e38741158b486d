import Basics
import Emulator
import LegacyWire
import Platform
import PushModel
import Services
import Transport

/// Sends command 2 frames over one TLS connection as fast as the other side takes them, then a frame that must be
/// refused: its error packet says that everything before it was accepted.
final class FrameLoad: ConnectionHandler {
  /// Bytes handed to the connection at a time.
  private static let burst = 256 << 10

  private let loop: EventLoop
  private let frames: [UInt8]
  private let ending: [UInt8]
  let meter: LoadMeter
  private var blocksLeft: Int
  private var hasSentEnding = false
  private var packet: [UInt8] = []
  /// When the first byte was sent and when the answer (or end of stream) came; monotonic nanoseconds.
  private(set) var startedAt = Instant.distantPast
  private(set) var answeredAt: Instant?
  /// Why there was no answer, if there was none.
  private(set) var failure: String?

  /// `tokens` get one frame each in turn, `count` frames in all (rounded up to whole rounds).
  private init(
    loop: EventLoop, tokens: [DeviceToken], count: Int, ending: [UInt8], meter: LoadMeter
  ) {
    (self.loop, self.meter) = (loop, meter)
    var frames: [UInt8] = []
    for (index, token) in tokens.enumerated() {
      frames += LegacyEncoder.frame(
        token: token.bytes, payload: BenchmarkSite.payload, identifier: UInt32(truncatingIfNeeded: index + 1),
        expiration: 4_000_000_000, priority: 10)
    }
    (self.frames, self.ending) = (frames, ending)
    blocksLeft = (count + tokens.count - 1) / max(1, tokens.count)
    total = blocksLeft * tokens.count
  }

  /// Frames that will be sent.
  let total: Int

  func connectionOpened(_ connection: SocketConnection) {
    startedAt = SystemClock.now()
    meter.start()
    connectionDrained(connection)
  }

  func connectionDrained(_ connection: SocketConnection) {
    guard blocksLeft > 0 else { return sendEnding(connection) }
    var burst = Self.burst
    while burst > 0, blocksLeft > 0 {
      connection.send(frames)
      blocksLeft -= 1
      burst -= frames.count
    }
    connection.notifyWhenDrained()
  }

  private func sendEnding(_ connection: SocketConnection) {
    guard !hasSentEnding else { return }
    hasSentEnding = true
    if ending.isEmpty { connection.close() } else { connection.send(ending) }
  }

  func connection(_ connection: SocketConnection, received bytes: Span<UInt8>) {
    packet.append(bytes)
    if packet.count >= LegacyErrorPacket.byteCount { answered() }
  }

  func connectionClosed(_ connection: SocketConnection, reason: String) {
    if !ending.isEmpty, packet != LegacyErrorPacket(status: 4, identifier: 0xffff_ffff).bytes {
      failure = "expected an error packet for the last frame, got \(Hex.encode(packet)) (\(reason))"
    }
    if answeredAt == nil { answered() }
    loop.stop()
  }

  private func answered() {
    answeredAt = SystemClock.now()
    meter.stop()
  }

  /// A frame without a payload, which is answered with status 4 and its identifier.
  private static let refusedFrame = LegacyEncoder.frame(
    token: [UInt8](repeating: 0xee, count: 32), payload: [], identifier: .max)

  /// The same at a server's gateway.
  static func run(
    _ site: BenchmarkSite, at server: ServerProcess, _ tokens: [DeviceToken], count: Int,
    _ meter: LoadMeter? = nil
  ) throws -> FrameLoad {
    try run(
      site, to: server.address("gateway"), tokens, count: count,
      meter ?? LoadMeter(server: .process(server.child)))
  }

  /// Sends over one connection, and waits for the answer; with `isAnswered` false, until the other side has closed. `meter`
  /// watches from the first byte to the answer.
  static func run(
    _ site: BenchmarkSite, to address: SocketAddress, _ tokens: [DeviceToken], count: Int,
    _ meter: LoadMeter, isAnswered: Bool = true
  ) throws -> FrameLoad {
    guard let loop = EventLoop() else { throw EmulatorError(.failed, "can't make an event loop") }
    let load = FrameLoad(
      loop: loop, tokens: tokens, count: count, ending: isAnswered ? refusedFrame : [], meter: meter)
    let context = try TLSContext.client(
      ca: site.certs.ca.certificate, certificate: site.credentials.certificate, key: site.credentials.key,
      policy: TLSPolicy())
    let connection = try TLSClient.connect(
      loop: loop, to: address, serverName: "gateway.sandbox.push.apple.com", context: context, handler: load)
    withExtendedLifetime(connection) { loop.run() }
    if let failure = load.failure { throw EmulatorError(.failed, failure) }
    return load
  }

  /// Frames a second, from the first byte to the answer.
  var rate: Double { Double(total) * 1e9 / Double(max(1, answeredAt?.nanoseconds(since: startedAt) ?? 0)) }
}
