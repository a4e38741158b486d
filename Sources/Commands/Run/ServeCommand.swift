import Emulator

/// `serve`: starts, says where everything is, and runs until it is signalled.
enum ServeCommand {
  static func run(_ settings: Settings) throws -> ExitStatus {
    let emulator = try start(EmulatorOptions(settings))
    do {
      for line in Banner.lines(emulator) + ["ready"] { try Output.line(line) }
    } catch {
      // Whoever waits for it would wait for ever.
      emulator.stop()
      emulator.run()
      throw error
    }
    emulator.run()
    if let failure = emulator.failure { throw failure }
    return .success
  }

  static func start(_ options: EmulatorOptions) throws -> Emulator {
    if let forward = options.forward, forward.key.isEmpty {
      throw UsageError("--forward needs --key FILE, the token key (.p8) to sign with", command: "serve")
    }
    let emulator = try Emulator(options: options)
    try emulator.start()
    return emulator
  }
}
