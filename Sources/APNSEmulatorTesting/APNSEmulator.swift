import Foundation
import Platform

/// Apple's push service inside a test: an emulator with a thread of its own, on free ports of 127.0.0.1, with its files in a
/// temporary folder that is removed at the end.
///
/// Everything that it is asked for happens on its thread, between the connections of providers and devices; it installs no
/// signal handler, prints nothing and never ends the process. As many as you like live side by side; those of one process
/// have the same CA, and nothing else, in common.
///
/// ```swift
/// let emulator = try await APNSEmulator.start()
/// let token = try await emulator.install("com.example.app", on: "phone-1")
/// // … the code under test pushes to `token` at `emulator.provider` …
/// let push = try await emulator.waitForPush { $0.token == token }
/// #expect(push.isAccepted)
/// await emulator.stop()
/// ```
public actor APNSEmulator {
  // A name for what can be asked of one, in a file for each subject: pushes, phones, faults and the clock, credentials.

  /// The binary gateway of 2009: TLS 1.2, a push certificate required. Port 0 if it is off.
  ///
  /// ```swift
  /// let address = "\(emulator.gateway)"  // 127.0.0.1:49152
  /// ```
  public nonisolated let gateway: SocketAddress
  /// The feedback service of the binary protocol. Port 0 if it is off.
  public nonisolated let feedback: SocketAddress
  /// The HTTP/2 API: TLS, ALPN `h2`, a push certificate or a provider token. Port 0 if it is off.
  ///
  /// ```swift
  /// let url = "https://localhost:\(emulator.provider.port)/3/device/\(token)"
  /// ```
  public nonisolated let provider: SocketAddress
  /// Where devices connect. Port 0 if it is off.
  public nonisolated let courier: SocketAddress
  /// Plain HTTP/1.1: the console's API, its pages, and `POST /3/device/{token}` for clients without HTTP/2. Port 0 if it is
  /// off.
  ///
  /// ```swift
  /// let url = URL(string: "http://\(emulator.console)/3/device/\(token)")
  /// ```
  public nonisolated let console: SocketAddress
  /// Path of the certificate, in PEM, of the CA that all listeners' certificates are from.
  ///
  /// ```swift
  /// setenv("SSL_CERT_FILE", emulator.caPath, 1)
  /// ```
  public nonisolated let caPath: String
  /// Folder of certificates and keys (`certs/README.md` has what lies where). Removed with the emulator.
  public nonisolated let certsPath: String
  /// The log of this emulator, for a look while a test stands still. Removed with the emulator.
  public nonisolated let logPath: String?

  package let live: LiveEmulator
  private let executor: LoopExecutor

  /// All of the actor runs on the emulator's own thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  /// One for an emulator that the thread of the executor goes on having: the actor's jobs run there alone, which is what isolates it.
  static func sharing(_ live: LiveEmulator, _ executor: LoopExecutor) -> APNSEmulator {
    nonisolated(unsafe) let live = live
    return unsafe APNSEmulator(live, executor)
  }

  private init(_ live: LiveEmulator, _ executor: LoopExecutor) {
    let (ports, options) = (live.emulator.ports, live.emulator.options)
    let off = SocketAddress(host: options.listeners.bind, port: 0)
    (gateway, feedback) = (ports["gateway"] ?? off, ports["feedback"] ?? off)
    (provider, courier) = (ports["provider"] ?? off, ports["courier"] ?? off)
    console = ports["console"] ?? off
    (caPath, certsPath, logPath) = (ports.ca, ports.certs, options.log.file)
    (self.live, self.executor) = (live, executor)
  }

  deinit { executor.release() }

  /// Starts an emulator. The closure may change what a test may want of the flags of `apns-emulator serve`.
  ///
  /// Throws what keeps it from starting. An emulator that nobody holds on to stops by itself.
  ///
  /// ```swift
  /// let emulator = try await APNSEmulator.start {
  ///   $0.environment = .production
  ///   $0.tokenSeed = "the same tokens on every machine"
  /// }
  /// ```
  public static func start(
    _ configure: (inout EmulatorOptions) -> Void = { _ in }
  ) async throws -> APNSEmulator {
    let folder = try TemporaryFolder().path
    var options = EmulatorOptions(in: folder)
    configure(&options)
    return try await withCheckedThrowingContinuation { continuation in
      LiveEmulator.start(options, folder: folder) { continuation.resume(with: $0) }
    }
  }

  /// Ends it in order, as SIGTERM ends `serve`: providers are told how far they got, devices may still acknowledge what is
  /// under way. Returns when every port is closed and the folder is removed. Twice is the same as once.
  ///
  /// ```swift
  /// override func tearDown() async throws { await emulator.stop() }
  /// ```
  public func stop() async {
    await withCheckedContinuation { continuation in live.stop { continuation.resume() } }
  }

  // MARK: Waiting

  /// Waits until `look` has an answer, which is asked for at the end of every turn of the loop, this one too; `what` says what
  /// was waited for in vain.
  func wait<Value: Sendable>(
    _ timeout: Duration, for what: @escaping () -> String, _ look: @escaping () throws -> Value?
  ) async throws -> Value {
    let number = live.waits.makeNumber()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        live.waits.begin(number, nanoseconds: timeout.nanoseconds) {
          do {
            guard let value = try look() else { return false }
            continuation.resume(returning: value)
          } catch {
            continuation.resume(throwing: error)
          }
          return true
        } giveUp: { [emulator = live.emulator] code in
          let began = code == .timedOut ? "waited \(timeout) for" : "stopped while waiting for"
          let why = emulator.failure.map { "; \($0.sentence)" } ?? ""
          continuation.resume(throwing: APNSEmulatorError(code, "\(began) \(what())\(why)"))
        }
      }
    } onCancel: {
      Task { await endWait(number) }
    }
  }

  private func endWait(_ number: Int) { live.waits.end(number, .stopped) }

  /// Throws if the emulator is over, and says why if nobody has stopped it.
  func checkLife() throws {
    guard live.isOver else { return }
    let why = live.emulator.failure.map { "the emulator has failed: \($0.sentence)" }
    throw APNSEmulatorError(.stopped, why ?? "the emulator has been stopped")
  }
}
