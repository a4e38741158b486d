import Emulator
import Platform

/// `exec`: an emulator on free ports for the life of one command (`interface.md`, Commands).
enum ExecCommand {
  static func run(_ settings: Settings) throws -> ExitStatus {
    let options = options(settings)
    let emulator = try ServeCommand.start(options)
    export(emulator, portsFile: options.portsFile ?? "")
    let child = try Subprocess(settings.foreign)
    var status: Int32?
    let look = {
      guard status == nil, let ended = child.exitStatus() else { return }
      status = ended
      emulator.stop()
    }
    emulator.onSignal(SIGCHLD, look)
    emulator.onSignal(SIGTERM) { child.send(signal: SIGTERM) }
    // It may have ended before anybody listened.
    look()
    emulator.run()
    if let failure = emulator.failure { throw failure }
    return ExitStatus(rawValue: status ?? ExitStatus.failure.rawValue)
  }

  /// As for `serve`, but free ports unless given, nothing on disk unless `--data`, and only warnings unless asked.
  private static func options(_ settings: Settings) -> EmulatorOptions {
    var options = EmulatorOptions(settings)
    let free = { (flag: Flag<EmulatorOptions.Port>) in
      settings.source(flag.name) == .standard ? EmulatorOptions.Port.number(0) : settings[flag] ?? .number(0)
    }
    options.gatewayPort = free(ServeFlags.gatewayPort)
    options.feedbackPort = free(ServeFlags.feedbackPort)
    options.providerPort = free(ServeFlags.providerPort)
    options.courierPort = free(ServeFlags.courierPort)
    options.consolePort = free(ServeFlags.consolePort)
    if settings.source(ServeFlags.data.name) == .standard { options.isEphemeral = true }
    if settings.source(ServeFlags.logLevel.name) == .standard { options.logLevel = .warning }
    if options.portsFile == nil { options.portsFile = "/tmp/apns-emulator-\(getpid()).json" }
    return options
  }

  private static func export(_ emulator: Emulator, portsFile: String) {
    ProcessEnvironment.set("APNS_EMULATOR_PORTS_FILE", portsFile)
    ProcessEnvironment.set("APNS_EMULATOR_CA", emulator.ports.ca)
    ProcessEnvironment.set("SSL_CERT_FILE", emulator.ports.ca)
    for (name, address) in emulator.ports.listeners {
      ProcessEnvironment.set("APNS_EMULATOR_\(name.uppercased())", "\(address)")
    }
  }
}
