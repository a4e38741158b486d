import Credentials
import Emulator
import Platform

/// `serve`: starts, says where everything is, and runs until it is signalled.
enum ServeCommand {
  /// How long the beginning and the end wait for a banner that nobody reads, in nanoseconds.
  private static let bannerTimeout: Int64 = 200_000_000

  static func run(_ settings: Settings) throws -> ExitStatus {
    try ServeOptions.check(settings, command: "serve")
    let emulator = try start(ServeOptions(settings), beforeAnnouncing: handleSignals)
    let banner = BackgroundOutput(StandardDescriptors.output)
    banner.add(line: (Banner.lines(emulator) + ["ready"]).joined(separator: "\n"))
    banner.drain(within: bannerTimeout)
    if banner.failure != 0, !WholeOutput.isUnread(banner.failure) {
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
    _ options: ServeOptions, beforeAnnouncing prepare: (Emulator) -> Void = { _ in }
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
    for signal in [Signal.interrupt, .terminate] {
      emulator.onSignal(signal) { [unowned emulator] in emulator.stop() }
    }
    emulator.onSignal(.hangUp) { [unowned emulator] in emulator.reopenFiles() }
  }
}

/// What `serve` prints before `ready`: service, address, note; the CA; one line that works as printed.
enum Banner {
  private static let notes = [
    ("gateway", "binary protocol, TLS with a push certificate"),
    ("feedback", "feedback service, TLS with a push certificate"),
    ("provider", "HTTP/2 provider API: POST /3/device/<token>"),
    ("courier", "connections of devices"),
    ("console", "dashboard, REST API, device activation, /3/device over plain HTTP"),
    ("proxy", "HTTPS_PROXY for programs that know only Apple's names"),
  ]

  private static let plain = ["console", "proxy"]

  static func lines(_ emulator: Emulator) -> [String] {
    let rows = notes.compactMap { name, note in
      emulator.ports[name].map { (name, plain.contains(name) ? "http://\($0)" : "\($0)", note) }
    }
    let width = rows.map(\.1.count).max() ?? 0
    let table = rows.map { name, address, note in
      name + String(repeating: " ", count: 10 - name.count) + address
        + String(repeating: " ", count: width - address.count + 2) + note
    }
    let head = "apns-emulator \(Program.version), \(emulator.options.environment.name)"
    return [head] + table + ["CA        \(emulator.ports.ca)"] + forward(emulator)
      + example(emulator)
  }

  private static func forward(_ emulator: Emulator) -> [String] {
    emulator.options.forward.map { ["forward   gateway → \($0.target), HTTP/2 with a provider token"] } ?? []
  }

  private static func example(_ emulator: Emulator) -> [String] {
    guard let console = emulator.ports["console"] else { return [] }
    // Whoever has chosen it need not read it in a log.
    let isGiven = emulator.options.credentials.access != nil
    guard let token = emulator.access.console else {
      let activation = emulator.access.any.map {
        "access    "
          + (isGiven
            ? "devices are activated with the token that you gave" : "\($0), for the activation of devices")
      }
      return [activation, "try       curl http://\(console)/api/v1/info"].compactMap { $0 }
    }
    guard !isGiven else { return ["access    with the token that you gave"] }
    return [
      "access    http://\(console)/?access=\(token)",
      "try       curl -H 'Authorization: Bearer \(token)' http://\(console)/api/v1/info",
    ]
  }
}
