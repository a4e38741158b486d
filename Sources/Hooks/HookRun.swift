import Basics
import Platform
import Transport

/// One try to hand a delivery to a hook, under way. `then` hears once of its outcome, on the loop; `stop` ends it early, after
/// which nobody hears of it.
protocol HookRun: AnyObject {
  func stop()
  /// Waits for the end of one that was stopped.
  func awaitEnd()
}

/// A command at work: a thread sees it to its end.
final class CommandRun: HookRun {
  /// Unchecked: the thread writes before it rings, the loop reads behind that.
  private final class Place: @unchecked Sendable {
    var ending: ShellCommand.Ending?
  }

  private let command: ShellCommand
  private let thread: WorkerThread
  private let bell: NumberPipe
  private var event: LoopEvent?
  private let place = Place()
  /// What it said, for the log.
  private let heard: (String) -> Void
  private let then: (HookOutcome) -> Void

  init(
    _ loop: EventLoop, _ text: String, _ environment: [String: String], _ body: [UInt8], within limit: Int64,
    heard: @escaping (String) -> Void, then: @escaping (HookOutcome) -> Void
  ) throws {
    guard let bell = NumberPipe() else { throw SocketError.last("open a pipe for", "/bin/sh") }
    (self.bell, self.heard, self.then) = (bell, heard, then)
    let (command, place): (ShellCommand, Place)
    do {
      (command, place) = (try ShellCommand(text, environment: environment), self.place)
    } catch {
      bell.close()
      throw error
    }
    let thread = WorkerThread {
      place.ending = command.run(body, within: limit)
      bell.send(0)
    }
    guard let thread else {
      command.stop()
      _ = command.run([], within: 0)
      bell.close()
      throw SocketError(operation: "start", address: "a thread", sentence: "the system has no thread left")
    }
    (self.command, self.thread) = (command, thread)
    event = LoopEvent(loop, descriptor: bell.reader, .read) { [unowned self] in ended(within: limit) }
    event?.start()
  }

  deinit { bell.close() }

  func stop() {
    event?.cancel()
    event = nil
    command.stop()
  }

  /// A second at most, and a moment.
  func awaitEnd() { thread.join() }

  private func ended(within limit: Int64) {
    event?.cancel()
    event = nil
    thread.join()
    guard let ending = place.ending else { return }
    let said = String(decoding: ending.output, as: UTF8.self).split(whereSeparator: \.isNewline)
    for line in said { heard(String(line)) }
    then(Self.outcome(ending, limit))
  }

  private static func outcome(_ ending: ShellCommand.Ending, _ limit: Int64) -> HookOutcome {
    if ending.isOverdue {
      return .failed("it did not end within \(limit / 1_000_000_000) s", isWorthRetrying: true)
    }
    return ending.status == 0 ? .done : .failed("it ended with \(ending.status)", isWorthRetrying: true)
  }
}

/// A request under way: the host is looked up, then asked at one address after the other until somebody is there.
final class PostRun: HookRun {
  /// Most bytes of an answer that are read, head and body: its status counts.
  private static let answerLimit = 64 << 10

  private let loop: EventLoop
  private let url: WebAddress
  private let context: TLSContext?
  private let body: [UInt8]
  private let limit: Int64
  private let resolver: AddressResolver
  private var untried: ArraySlice<SocketAddress> = []
  private var call: HTTPCall?
  private var status: Int?
  private var timer: LoopEvent?
  /// nil once it was told, or nobody wants to hear of it.
  private var then: ((HookOutcome) -> Void)?

  init(
    _ loop: EventLoop, _ url: WebAddress, _ context: TLSContext?, _ body: [UInt8], within limit: Int64,
    then: @escaping (HookOutcome) -> Void
  ) {
    (self.loop, self.url, self.context, self.body) = (loop, url, context, body)
    (self.limit, self.then) = (limit, then)
    resolver = AddressResolver(loop: loop)
    timer = LoopEvent(timerOn: loop) { [unowned self] in
      status = nil
      lost("no answer within \(limit / 1_000_000_000) s")
    }
  }

  func start() {
    resolver.resolve(url.server) { [weak self] in self?.resolved($0) }
  }

  func stop() {
    then = nil
    end()
  }

  func awaitEnd() {}

  private func resolved(_ result: Result<[SocketAddress], SocketError>) {
    guard then != nil else { return }
    switch result {
    case .success(let addresses):
      untried = addresses[...]
      askNext("\(url.authority) has no address")
    case .failure(let error): end(.failed("\(error)", isWorthRetrying: true))
    }
  }

  /// `failure` is that of the one before.
  private func askNext(_ failure: String) {
    guard let address = untried.popFirst() else { return end(.failed(failure, isWorthRetrying: true)) }
    do {
      call = try HTTPCall(
        loop: loop, posting: body, ofType: "application/json", to: url, at: address, context: context,
        answerLimit: Self.answerLimit
      ) { [weak self] in self?.heard($0) }
      timer?.start(afterNanoseconds: limit)
    } catch { askNext("\(error)") }
  }

  private func heard(_ event: HTTPCall.Event) {
    switch event {
    case .head(let head): status = head.status
    case .piece: break
    case .end: lost("")
    case .lost(let loss): lost("\(loss)")
    }
  }

  /// No more comes. The status counts, whatever was to come behind it.
  private func lost(_ reason: String) {
    if let status { return end(HookOutcome(status: status)) }
    let failure = SocketError(operation: "post to", address: url.authority, sentence: reason)
    let wasConnected = call?.wasConnected ?? false
    call?.end()
    if wasConnected { untried = [] }
    askNext("\(failure)")
  }

  private func end(_ outcome: HookOutcome? = nil) {
    timer?.cancel()
    call?.end()
    let then = then
    self.then = nil
    if let outcome { then?(outcome) }
  }
}
