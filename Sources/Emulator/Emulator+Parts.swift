import Basics
import Bridge
import Broker
import Cluster
import Credentials
import Platform
import Recorder
import Runtime
import Storage
import Transport

/// How the parts are made that the options decide about.
extension Emulator {
  static func makeConsoleToken() -> String {
    Hex.encode([UInt8].random(16))
  }

  static func secret(_ options: ServeOptions, _ cluster: ClusterNode?) throws -> TokenSecret {
    if let seed = options.credentials.tokenSeed { return TokenSecret(seed: seed) }
    // All nodes make the same tokens.
    if let cluster { return TokenSecret(seed: Hex.encode(cluster.secret)) }
    guard !options.files.isEphemeral else { return .random() }
    // The secret lies beside the store, for this user alone; whether the folder can be used shows when it is read.
    mkdir(options.files.data, 0o700)
    do {
      return try .kept(inFolder: options.files.data)
    } catch {
      throw EmulatorError(.storeUnusable, "the data folder can't be used: \(error)")
    }
  }

  static func makeLogger(_ options: ServeOptions, _ clock: EmulatorClock) throws -> Logger {
    do {
      return try Logger(options.log, clock: clock)
    } catch {
      throw EmulatorError(.failed, "--log-file: \(error)")
    }
  }

  static func openStore(_ options: ServeOptions, _ broker: Broker) throws -> (any BrokerStore)? {
    guard !options.files.isEphemeral else { return nil }
    do {
      let store = try SQLiteStore(path: storePath(in: options.files.data))
      try store.load(into: broker)
      return store
    } catch {
      throw EmulatorError(.storeUnusable, error.sentence)
    }
  }

  static func makeCapture(_ options: ServeOptions, _ broker: Broker, _ logger: Logger) throws
    -> CaptureRecorder?
  {
    guard let capture = options.capture else { return nil }
    return try CaptureRecorder(
      capture, broker: broker, logger: logger, limits: options.legacy, environment: options.environment)
  }

  static func makeForward(
    _ options: ServeOptions, _ seed: UInt64, _ loop: EventLoop, _ broker: Broker, _ clock: EmulatorClock,
    _ logger: Logger, _ waiters: PushWaiters, _ capture: CaptureRecorder?
  ) throws -> ForwardService? {
    try options.forward.map {
      try ForwardService(
        loop: loop, options: $0, broker: broker, clock: clock, waiters: waiters, capture: capture,
        ownCA: CertsFolder(path: options.credentials.certs).ca.certificate, logger: logger, seed: seed,
        keepsQueue: !options.files.isEphemeral)
    }
  }

  /// The store's file in a data folder.
  package static func storePath(in data: String) -> String { data + "/store.db" }
}
