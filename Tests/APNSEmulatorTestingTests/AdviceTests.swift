import APNSEmulatorTesting
import Basics
import LegacyWire
import Testing
import Transport

@Suite("Advice inside a test", .apnsEmulator, .timeLimit(.minutes(15)))
struct AdviceTests {
  let emulator = APNSEmulator.current

  @Test("names what was lost behind a rejected push, and whom it was of")
  func lost() async throws {
    let token = try #require(Hex.decode(try await emulator.install(app, on: "phone-1")))
    #expect(try await emulator.advice().isEmpty)
    let certificate = try emulator.issuePushCertificate(for: app)
    // The gateway answers the first with status 8 (invalid token), and discards what came behind it.
    let unknown = [UInt8](repeating: 0xab, count: 32)
    let packet = try await emulator.exchange(with: certificate, [unknown] + Array(repeating: token, count: 9))
    #expect(packet == [8, 8, 0, 0, 0, 1])
    let lost = try #require(try await emulator.advice().first { $0.rule == .lostAfterError })
    #expect((lost.severity, lost.count, lost.connections) == (.error, 9, 1))
    #expect(lost.provider.interface == .gateway && lost.provider.credential.contains(app))
    #expect(try await emulator.advice(from: .error).contains { $0.rule == .lostAfterError })
    await emulator.forgetPushes()
    #expect(try await emulator.advice(from: .error).isEmpty)
  }

  @Test("has nothing to say of pushes that arrive")
  func fine() async throws {
    let token = try #require(Hex.decode(try await emulator.install(app, on: "phone-1")))
    let certificate = try emulator.issuePushCertificate(for: app)
    // The last one, without a token, makes the gateway say that it has read all before: status 2.
    let packet = try await emulator.exchange(with: certificate, Array(repeating: token, count: 9) + [[]])
    #expect(packet == [8, 2, 0, 0, 0, 0])
    #expect(try await emulator.advice(from: .warning).isEmpty)
  }

  @Test("is not to be had of an emulator that is over")
  func stopped() async throws {
    let other = try await APNSEmulator.start()
    await other.stop()
    await #expect(throws: APNSEmulatorError.self) { try await other.advice() }
  }
}

extension APNSEmulator {
  /// Pushes to these tokens at once, by the binary protocol; answers what the gateway said when it had closed.
  fileprivate func exchange(with certificate: PushCertificate, _ tokens: [[UInt8]]) async throws -> [UInt8] {
    let frames = tokens.enumerated().flatMap { index, token in
      LegacyEncoder.frame(
        token: token, payload: Array(alert("\(index)").utf8), identifier: UInt32(index) + 1, expiration: .max,
        priority: 10)
    }
    var policy = TLSPolicy()
    policy.maximum = .tls12
    let context = try TLSContext.client(
      ca: caPath, certificate: certificate.certificatePath, key: certificate.keyPath, policy: policy)
    return try await withCheckedThrowingContinuation { continuation in
      let handler = OneExchange(frames) { continuation.resume(returning: $0) }
      do {
        handler.connection = try TLSClient.connect(
          loop: live.emulator.loop, to: gateway, serverName: "localhost", context: context, handler: handler)
      } catch {
        continuation.resume(throwing: error)
      }
    }
  }
}

/// Sends once, and collects what comes until the connection is gone.
private final class OneExchange: ConnectionHandler {
  private let frames: [UInt8]
  private let done: ([UInt8]) -> Void
  private var received: [UInt8] = []
  /// Kept until the end.
  var connection: SocketConnection?

  init(_ frames: [UInt8], done: @escaping ([UInt8]) -> Void) { (self.frames, self.done) = (frames, done) }

  func connectionOpened(_ connection: SocketConnection) { connection.send(frames) }

  func connection(_ connection: SocketConnection, received bytes: Span<UInt8>) {
    received.append(bytes)
  }

  func connectionClosed(_ connection: SocketConnection, reason: String) {
    done(received)
    self.connection = nil
  }
}
