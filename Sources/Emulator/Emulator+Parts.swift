import Basics
import Broker
import Cluster
import Credentials
import Platform
import Runtime
import Storage
import Transport

/// How the parts are made that the options decide about.
extension Emulator {
  static func makeConsoleToken() -> String {
    Hex.encode([UInt8].random(16))
  }

  static func secret(_ options: EmulatorOptions, _ cluster: ClusterNode?) throws -> TokenSecret {
    if let seed = options.tokenSeed { return TokenSecret(seed: seed) }
    // All nodes make the same tokens.
    if let cluster { return TokenSecret(seed: Hex.encode(cluster.secret)) }
    guard !options.isEphemeral else { return .random() }
    // The secret lies beside the store, for this user alone; whether the folder can be used shows when it is read.
    mkdir(options.data, 0o700)
    do {
      return try .kept(inFolder: options.data)
    } catch {
      throw EmulatorError(.storeUnusable, "the data folder can't be used: \(error)")
    }
  }

  static func makeLogger(_ options: EmulatorOptions, _ clock: EmulatorClock) throws -> Logger {
    do {
      return try Logger(
        format: options.logFormat, level: options.logLevel, clock: clock, file: options.logFile)
    } catch {
      throw EmulatorError(.failed, "--log-file: \(error)")
    }
  }

  static func openStore(_ options: EmulatorOptions, _ broker: Broker) throws -> (any BrokerStore)? {
    guard !options.isEphemeral else { return nil }
    do {
      let store = try SQLiteStore(path: storePath(in: options.data))
      try store.load(into: broker)
      return store
    } catch {
      throw EmulatorError(.storeUnusable, error.sentence)
    }
  }

  static func makeCapture(_ options: EmulatorOptions, _ broker: Broker, _ logger: Logger) throws
    -> CaptureRecorder?
  {
    guard let capture = options.capture else { return nil }
    return try CaptureRecorder(
      capture, broker: broker, logger: logger, limits: options.legacyLimits, environment: options.environment,
      awaitsVerdicts: options.forward != nil || options.cluster != nil)
  }

  static func makeForward(
    _ options: EmulatorOptions, _ seed: UInt64, _ loop: EventLoop, _ broker: Broker, _ clock: EmulatorClock,
    _ logger: Logger, _ waiters: PushWaiters
  ) throws -> ForwardService? {
    try options.forward.map {
      try ForwardService(
        loop: loop, options: $0, broker: broker, clock: clock, waiters: waiters,
        ownCA: CertsFolder(path: options.certs).ca.certificate, logger: logger, seed: seed,
        keepsQueue: !options.isEphemeral)
    }
  }

  /// The store's file in a data folder.
  package static func storePath(in data: String) -> String { data + "/store.db" }
}
