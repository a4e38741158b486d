import Credentials
import Emulator
import Platform

/// `serve`: starts, says where everything is, and runs until it is signalled.
enum ServeCommand {
  /// How long the beginning and the end wait for a banner that nobody reads, in nanoseconds.
  private static let bannerTimeout: Int64 = 200_000_000

  static func run(_ settings: Settings) throws -> ExitStatus {
    try EmulatorOptions.check(settings, command: "serve")
    let emulator = try start(EmulatorOptions(settings), beforeAnnouncing: handleSignals)
    let banner = BackgroundOutput(STDOUT_FILENO)
    banner.add(line: (Banner.lines(emulator) + ["ready"]).joined(separator: "\n"))
    banner.drain(within: bannerTimeout)
    if banner.failure != 0, banner.failure != EPIPE {
      // Whoever waits for it would wait for ever.
      emulator.stop()
      emulator.run()
      throw Output.failure(banner.failure)
    }
    emulator.run()
    banner.drain(within: bannerTimeout)
    if let failure = emulator.failure { throw failure }
    return .success
  }

  /// An emulator that has everything open and runs once its loop is turned.
  static func start(
    _ options: EmulatorOptions, beforeAnnouncing prepare: (Emulator) -> Void = { _ in }
  ) throws -> Emulator {
    if let forward = options.forward, forward.key.isEmpty {
      throw UsageError("--forward needs --key FILE, the token key (.p8) to sign with", command: "serve")
    }
    SignalMask.ignoreSignalsOfWriting()
    SocketCalls.raiseOpenFileLimit()
    let emulator = try Emulator(options: options)
    try emulator.start {
      writeBundle(emulator)
      prepare(emulator)
    }
    return emulator
  }

  /// What programs can be told to trust; a folder that can't be written to is no reason not to start.
  private static func writeBundle(_ emulator: Emulator) {
    let (ca, certs) = (emulator.ports.ca, emulator.ports.certs)
    do {
      try TrustBundle.write(ca, in: certs, given: ProcessEnvironment.variables["SSL_CERT_FILE"])
    } catch {
      Output.complain("\(error); programs are told to trust \(ca) alone")
    }
  }

  /// SIGINT and SIGTERM end it in order, a second one at once; SIGHUP is what `logrotate` sends.
  private static func handleSignals(_ emulator: Emulator) {
    for number in [SIGINT, SIGTERM] { emulator.onSignal(number) { [unowned emulator] in emulator.stop() } }
    emulator.onSignal(SIGHUP) { [unowned emulator] in emulator.reopenFiles() }
  }
}
