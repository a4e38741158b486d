import Basics
import Credentials
import Emulator
import Foundation
import Platform
import Transport

/// An emulator at work, with all that lives on its thread. The thread and the actor have it together, so that it goes
/// neither under the loop's feet nor on another thread while the loop turns.
package final class LiveEmulator {
  package let emulator: Emulator
  package let waits: Waits
  let pushes: PushWatch
  package var phones: [String: LivePhone] = [:]
  private let folder: String
  private var whenOver: [() -> Void] = []
  private(set) var isOver = false

  private init(_ emulator: Emulator, folder: String) {
    (self.emulator, self.folder) = (emulator, folder)
    waits = Waits(emulator)
    pushes = PushWatch(emulator.broker)
  }

  /// Where certificates lie unless a test wants them elsewhere.
  static func certsPath(in folder: String) -> String { folder + "/certs" }

  /// Starts an emulator with a thread of its own. The closure gets what can be told to others once it is ready, or why
  /// it is not; on that thread.
  static func start(
    _ options: EmulatorOptions, folder: String,
    ready: @escaping @Sendable (Result<APNSEmulator, any Error>) -> Void
  ) {
    let thread = WorkerThread {
      SignalMask.blockSignalsOfWriting()
      do {
        let (live, executor) = try make(options, folder, ready)
        live.emulator.run()
        live.end()
        executor.serveTheRest()
      } catch {
        remove(folder)
        ready(.failure(error))
      }
    }
    guard thread == nil else { return }
    remove(folder)
    ready(.failure(APNSEmulatorError(.refused, "can't start a thread for an emulator")))
  }

  private static func make(
    _ options: EmulatorOptions, _ folder: String,
    _ ready: (Result<APNSEmulator, any Error>) -> Void
  ) throws -> (LiveEmulator, LoopExecutor) {
    OpenSSLLibrary.keepUntilTheEnd()
    let options = try options.resolved()
    if options.credentials.certs == certsPath(in: folder) {
      try SharedCA.write(into: options.credentials.certs)
    }
    let emulator = try Emulator(options: options)
    let executor = try LoopExecutor(emulator.loop) { [unowned emulator] in emulator.stop() }
    try emulator.start()
    let live = LiveEmulator(emulator, folder: folder)
    ready(.success(.sharing(live, executor)))
    return (live, executor)
  }

  /// Calls back once everything is closed, written and removed.
  func stop(_ done: @escaping () -> Void) {
    guard !isOver else { return done() }
    whenOver.append(done)
    if whenOver.count == 1 { emulator.stop() }
  }

  /// The loop has ended.
  private func end() {
    isOver = true
    for phone in phones.values { phone.device.switchOff() }
    waits.endAll()
    Self.remove(folder)
    for done in whenOver { done() }
    whenOver = []
  }

  private static func remove(_ folder: String) { try? FileManager.default.removeItem(atPath: folder) }
}

/// The root and its certificates for servers and devices, made once in a process and given to each of its emulators: RSA
/// keys take most of a start's time.
enum SharedCA {
  private static let names = [
    "ca.pem", "ca.key", "server.pem", "server.key", "server-ec.pem", "server-ec.key", "device-ca.pem",
    "device-ca.key",
  ]
  private static let files = Result { try make() }

  /// Puts them into a folder of certificates that is not there yet.
  static func write(into path: String) throws {
    _ = PathCalls.makeFolder(path, 0o700)
    for (name, bytes) in try files.get() {
      try FileReplacement("\(path)/\(name)").write(bytes, permissions: 0o600, isSecret: true)
    }
  }

  private static func make() throws -> [(name: String, bytes: [UInt8])] {
    let folder = try TemporaryFolder().path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try CertsFolder(path: folder).prepare(now: Timestamp(nanoseconds: SystemClock.wallNanoseconds()))
    return try names.map { ($0, try TextFile.read("\(folder)/\($0)")) }
  }
}
