import Platform

/// Every command with its flags: the one table from which parsing, help and completion are made.
package enum CommandTable {
  package static let commands: [CommandDescription] =
    [
      CommandDescription(
        "serve", "run the emulator until you stop it", about: CommandHelp.serve,
        groups: ServeFlags.groups,
        run: ServeCommand.run),
      CommandDescription(
        "exec", "run a command against an emulator of its own, and return its exit status",
        about: CommandHelp.exec,
        groups: ExecCommand.groups,
        takesCommand: true, run: ExecCommand.run),
      CommandDescription(
        "drill", "see what a provider does when something goes wrong", about: CommandHelp.drill,
        flags: DrillCommand.flags, takesCommand: true, flagsWithoutCommand: DrillCommand.flagsWithoutCommand,
        run: DrillCommand.run),
      CommandDescription(
        "certs push", "issue a push certificate", flags: CertsCommand.pushFlags, run: CertsCommand.push),
      CommandDescription(
        "certs key", "make a token key", flags: CertsCommand.keyFlags, run: CertsCommand.key),
      CommandDescription(
        "certs convert", "convert a certificate and its key between .p12 and .pem",
        flags: ConvertCommand.flags,
        arguments: ConvertCommand.arguments, run: ConvertCommand.run),
      CommandDescription(
        "certs revoke", "revoke a certificate or a token key", about: CommandHelp.revoke,
        flags: RevokeCommand.flags, arguments: RevokeCommand.arguments, run: RevokeCommand.run),
      CommandDescription(
        "certs device", "issue a device certificate without activation", flags: CertsCommand.deviceFlags,
        run: CertsCommand.device),
      CommandDescription(
        "device", "run a simulated phone", about: CommandHelp.device, flags: DeviceCommand.flags,
        run: DeviceCommand.run),
      CommandDescription(
        "fleet", "run thousands of simulated phones", about: CommandHelp.fleet, flags: FleetCommand.flags,
        run: FleetCommand.run),
      CommandDescription(
        "push", "push to an app on a phone by their names, and create what is missing",
        about: CommandHelp.push,
        flags: PushCommand.flags, arguments: PushCommand.arguments, run: PushCommand.run),
      CommandDescription(
        "send", "push to a device token, over HTTP/2 or the binary protocol", about: CommandHelp.send,
        flags: SendCommand.flags, run: SendCommand.run),
      CommandDescription(
        "explain", "check a payload, and show what a phone would do with it",
        about: CommandHelp.explain, flags: ExplainCommand.flags, arguments: [ExplainCommand.payload],
        run: ExplainCommand.run),
      CommandDescription(
        "scenario run", "play scenarios of phones and pushes, and check the results",
        about: CommandHelp.scenario, flags: ScenarioCommand.flags, arguments: [ScenarioCommand.files],
        run: ScenarioCommand.run),
      CommandDescription(
        "scenario schema", "print the JSON Schema of a scenario", run: ScenarioCommand.schema),
      CommandDescription(
        "replay", "send the pushes of a capture again, and compare the outcomes", flags: ReplayCommand.flags,
        arguments: [ReplayCommand.file], run: ReplayCommand.run),
      CommandDescription(
        "har", "print the HTTP requests of a capture as an HTTP archive (HAR)",
        arguments: [ReplayCommand.file],
        run: HARCommand.run),
      CommandDescription(
        "feedback", "list the device tokens that are gone, from the feedback service",
        flags: FeedbackCommand.flags, run: FeedbackCommand.run),
      CommandDescription(
        "tokens", "list device tokens with their device, topic and environment", flags: TokensCommand.flags,
        run: TokensCommand.run),
      CommandDescription(
        "advice", "list what your provider does against Apple's advice", about: CommandHelp.advice,
        flags: AdviceCommand.flags, run: AdviceCommand.run),
      CommandDescription(
        "tail", "print events as they happen", flags: TailCommand.flags, run: TailCommand.run),
      CommandDescription(
        "export", "save the state of a running emulator, without private keys",
        flags: TransferCommand.flags,
        arguments: [
          Argument(ValueKind<String>.file, "the file to write (default: standard output)").optional
        ],
        run: TransferCommand.export),
      CommandDescription(
        "import", "load a saved state into a running emulator", flags: TransferCommand.flags,
        arguments: [Argument(ValueKind<String>.file, "the file that export wrote, or - for standard input")],
        run: TransferCommand.import),
      CommandDescription(
        "cluster status", "print the nodes of a cluster, their zones, and problems",
        about: CommandHelp.clusterStatus, flags: ClusterCommand.statusFlags, run: ClusterCommand.status),
      CommandDescription(
        "cluster move", "move a zone to another node", about: CommandHelp.clusterMove,
        flags: ClusterCommand.flags, arguments: ClusterCommand.moveArguments, run: ClusterCommand.move),
      CommandDescription(
        "cluster drain", "make a node hand its zones to other nodes, and end",
        flags: ClusterCommand.drainFlags,
        arguments: ClusterCommand.nodeArguments, run: ClusterCommand.drain),
      CommandDescription(
        "cluster forget", "stop waiting for a missing node that will not come back",
        flags: ClusterCommand.flags,
        arguments: ClusterCommand.nodeArguments, run: ClusterCommand.forget),
      CommandDescription(
        "cluster repair", "make nodes pass over a message that they refuse", about: CommandHelp.clusterRepair,
        flags: ClusterCommand.repairFlags, arguments: ClusterCommand.repairArguments,
        run: ClusterCommand.repair
      ),
      CommandDescription(
        "health", "check whether an emulator is ready", flags: HealthCommand.flags, run: HealthCommand.run),
      CommandDescription(
        "config", "print each setting of serve and where it came from", groups: ServeFlags.groups,
        run: ConfigCommand.run),
      CommandDescription(
        "completion", "print a completion script for a shell",
        arguments: [Argument(ValueKind<CompletionScript.Shell>.word, "the shell")],
        run: CompletionCommand.run),
      CommandDescription(
        "man", "print a manual page", about: CommandHelp.man, flags: ManCommand.flags,
        arguments: ManCommand.arguments, run: ManCommand.run),
    ]
    + benchmarks.map {
      CommandDescription($0, $1, about: CommandHelp.bench, isElsewhere: true, run: BenchCommand.run)
    }

  /// What `apns-emulator-bench` carries out, by flags of its own.
  package static let benchmarks: [(name: String, summary: String)] = [
    ("bench gateway", "measure the gateway, compared with a TLS sink"),
    ("bench provider", "measure the provider API, compared with nghttpd"),
    ("bench capture", "measure what watching costs, and how fast replay is"),
    ("bench cluster", "measure two nodes with a NATS server, compared with a single node"),
    ("bench", "run all benchmarks that need no NATS server"),
  ]
}

/// `bench`: measurements with a reference in the same run (`Documentation/speed.md`), by a program of its own that gets the words as
/// they are.
enum BenchCommand {
  private static let program = "apns-emulator-bench"

  static func run(_ settings: Settings) throws -> ExitStatus {
    if let path = OwnProgram.beside(program) {
      throw CommandFailure("\(OwnProgram.become(path, settings.foreign))")
    }
    let advice =
      "bench needs the program \(program), which is not in \(OwnProgram.folder); packages do not contain it: in a clone of the "
      + "repository, make bench builds and runs it"
    guard settings.foreign.contains(where: { ["--help", "-h"].contains($0) }) else {
      throw CommandFailure(advice)
    }
    try Output.line(advice)
    return .success
  }
}
