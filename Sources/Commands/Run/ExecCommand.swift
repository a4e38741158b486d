import Credentials
import Emulator
import Platform
import Services

/// `exec`: an emulator on free ports for the life of one command (`Documentation/commands.md#exec`).
///
/// The command decides when it is over: signals go to it, and the emulator leaves after it.
package enum ExecCommand {
  /// What a shell answers when it can't run a command.
  private static let notRun = ExitStatus(rawValue: 127)

  /// No setting: the variable of its name tells the command where the proxy is.
  static let proxy = Flag("proxy", .toggle, "set HTTPS_PROXY too, for programs that know only Apple's names")

  /// No setting either: what one command is asked for, another need not be.
  static let advice = Flag(
    "advice", ValueKind<AdviceRequest>.adviceRequest,
    "list advice on standard error at the end; with a severity, end with 5 if a finding is as bad or worse")

  /// Its own, and those of `serve` with the defaults of a guest: free ports, nothing on disk, only warnings.
  static let groups =
    [FlagGroup("The command", [proxy, advice])]
    + ServeFlags.groups.map { group in
      group.replacing(
        ServeFlags.ports.map { $0.defaulting(to: "0") } + [
          ServeFlags.data.defaulting(to: nil), ServeFlags.logLevel.defaulting(to: LogLevel.warning.rawValue),
        ])
    }

  static func run(_ settings: Settings) throws -> ExitStatus {
    try ServeOptions.check(settings, command: "exec")
    var options = options(settings)
    let usesProxy = settings.isOn(proxy)
    guard !usesProxy || options.listeners.proxy != .off else {
      throw UsageError(
        "--proxy needs the proxy listener, which --proxy-port off does not open", command: "exec")
    }
    let folder = try options.files.ports == nil ? TemporaryFolder() : nil
    defer { folder?.remove() }
    if let folder { options.files.ports = folder.path + "/ports.json" }
    let emulator = try ServeCommand.start(options)
    let told = emulator.guestVariables.merging(usesProxy ? emulator.proxyVariables : [:]) { $1 }
    for (name, value) in told { ProcessEnvironment.set(name, value) }
    let end = settings[advice].map { _ in CommandEnd(emulator) }
    let status = try withExtendedLifetime(end) {
      try runCommand(settings.foreign, emulator) { end?.begin() ?? emulator.stop() }
    }
    if let failure = emulator.failure { throw failure }
    guard let asked = settings[advice] else { return status }
    return advise(asked, emulator, status)
  }

  /// Lists what the command was seen to do, now that all of it has come. What it answers itself is not overridden.
  private static func advise(_ asked: AdviceRequest, _ emulator: Emulator, _ status: ExitStatus) -> ExitStatus
  {
    emulator.advice.nothingMoreComes()
    let list = AdviceList(emulator.advice.findings(), pushes: Int64(clamping: emulator.advice.pushes))
    Output.complain("advice: " + list.lines.joined(separator: "\n"))
    guard status == .success, case .failure(let least) = asked, list.has(least) else { return status }
    return .advised
  }

  /// `ended` is told when the command has ended, and has the emulator end.
  private static func runCommand(
    _ words: [String], _ emulator: Emulator, ended: @escaping () -> Void
  ) throws -> ExitStatus {
    var child: Subprocess?
    var status: Int32?
    // Before there is a command: a signal that comes at once is for it, too. None is looked at before the emulator runs.
    emulator.onSignal(.child) {
      guard status == nil, let code = child?.exitStatus() else { return }
      status = code
      ended()
    }
    for signal in [Signal.terminate, .hangUp] { emulator.onSignal(signal) { child?.send(signal) } }
    // Ctrl-C reaches every process of the foreground group, so the command has it already.
    emulator.onSignal(.interrupt) { if !Terminal.isInForeground { child?.send(.interrupt) } }
    do {
      child = try Subprocess(words)
    } catch {
      emulator.stop()
      emulator.run()
      throw CommandFailure("\(error)", status: notRun)
    }
    emulator.run()
    // Without a status the store has failed; the command must not go on against nobody.
    if status == nil { child?.send(.terminate) }
    return ExitStatus(rawValue: status ?? ExitStatus.failure.rawValue)
  }

  /// As for `serve`, but nothing on disk unless `--data`.
  package static func options(_ settings: Settings) -> ServeOptions {
    var options = ServeOptions(settings)
    if settings[ServeFlags.data] == nil { options.files.isEphemeral = true }
    // A variable of this name tells a command where a running emulator is: an outer `exec` must keep its file.
    if settings.source(ServeFlags.portsFile.name) == .environment(ServeFlags.portsFile.environmentName) {
      options.files.ports = nil
    }
    return options
  }
}
