import Basics
import Broker
import Credentials
import Platform
import Services
import Transport

/// What is done once a second: stored notifications are dropped at their expiry even if nobody asks for them, removed keys are
/// noticed, idle connections end, memory goes back to the system, advice learns that time has passed, and the store may wait for its disk.
final class Housekeeping {
  /// How often, in nanoseconds, and how many rows are looked at for expired messages then.
  private static let interval: Int64 = 1_000_000_000
  private static let expiryBudget = 50_000

  private let loop: EventLoop
  private let broker: Broker
  private let clock: EmulatorClock
  private let logger: Logger
  private let trust: ProviderTrust
  private let tokenVerifier: ProviderTokenVerifier
  private let provider: ProviderService
  private let paths: PushPaths
  private let turnEnd: TurnEnd
  private var timer: LoopEvent?
  private var heapTrim = HeapTrim()
  /// What is wrong with files that are of no use, as was told last.
  private var unusedFiles: [String] = []

  init(
    _ ground: EmulatorGround, _ provider: ProviderService, _ paths: PushPaths, _ turnEnd: TurnEnd
  ) {
    (loop, broker, clock, logger) = (ground.loop, ground.broker, ground.clock, ground.logger)
    (trust, tokenVerifier) = (ground.trust, ground.tokenVerifier)
    (self.provider, self.paths, self.turnEnd) = (provider, paths, turnEnd)
    timer = LoopEvent(timerOn: loop) { [unowned self] in keepHouse() }
  }

  func start() {
    tellOfUnusedFiles()
    timer?.start(afterNanoseconds: Self.interval)
  }

  private func keepHouse() {
    broker.deliveries.dropExpired(now: clock.now(), budget: Self.expiryBudget)
    tokenVerifier.pickUpChanges()
    tellOfUnusedFiles()
    provider.endIdle()
    loop.watchMemory()
    giveMemoryBack()
    paths.forward?.tick()
    paths.advice.timePassed()
    turnEnd.writeBack()
    paths.node?.cluster.count(devices: broker.registry.onlineCount)
    timer?.start(afterNanoseconds: Self.interval)
  }

  private func giveMemoryBack() {
    let memory = loop.memory
    let isDue = heapTrim.isDue(
      held: memory.used, atMost: memory.takeHighest(), pushes: broker.counters.received)
    if isDue { HeapMemory.trim() }
  }

  /// Keys and CAs that a person has put there and that are of no use, once each.
  private func tellOfUnusedFiles() {
    let sentences = (trust.ignoredFiles + tokenVerifier.ignoredFiles).map(\.message)
    guard sentences != unusedFiles else { return }
    for sentence in sentences where !unusedFiles.contains(sentence) {
      logger.log(.warning, "a file is ignored", [("because", .string(sentence))])
    }
    unusedFiles = sentences
  }
}
