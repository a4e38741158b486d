import Basics
import Broker
import Platform
import Transport

/// What is done once a second: stored notifications are dropped at their expiry even if nobody asks for them, removed keys are
/// noticed, idle connections end, memory goes back to the system, and the store may wait for its disk.
final class Housekeeping {
  /// How often, in nanoseconds, and how many rows are looked at for expired messages then.
  private static let interval: Int64 = 1_000_000_000
  private static let expiryBudget = 50_000

  private unowned let emulator: Emulator
  private var timer: LoopEvent?
  private var heapTrim = HeapTrim()
  /// What is wrong with files that are of no use, as was told last.
  private var unusedFiles: [String] = []

  init(_ emulator: Emulator) {
    self.emulator = emulator
    timer = LoopEvent(timerOn: emulator.loop) { [unowned self] in keepHouse() }
  }

  func start() {
    tellOfUnusedFiles()
    timer?.start(afterNanoseconds: Self.interval)
  }

  private func keepHouse() {
    emulator.broker.deliveries.dropExpired(now: emulator.clock.now(), budget: Self.expiryBudget)
    emulator.tokenVerifier.pickUpChanges()
    tellOfUnusedFiles()
    emulator.provider.endIdle()
    emulator.loop.watchMemory()
    giveMemoryBack()
    emulator.forward?.tick()
    emulator.turnEnd.writeBack()
    emulator.node?.cluster.count(devices: emulator.broker.registry.onlineCount)
    timer?.start(afterNanoseconds: Self.interval)
  }

  private func giveMemoryBack() {
    let memory = emulator.loop.memory
    let isDue = heapTrim.isDue(
      held: memory.used, atMost: memory.takeHighest(), pushes: emulator.broker.counters.received)
    if isDue { HeapMemory.trim() }
  }

  /// Keys and CAs that a person has put there and that are of no use, once each.
  private func tellOfUnusedFiles() {
    let sentences = (emulator.trust.ignoredFiles + emulator.tokenVerifier.ignoredFiles).map(\.message)
    guard sentences != unusedFiles else { return }
    for sentence in sentences where !unusedFiles.contains(sentence) {
      emulator.logger.log(.warning, "a file is of no use", [("because", .string(sentence))])
    }
    unusedFiles = sentences
  }
}
