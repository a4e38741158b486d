import Platform
import PushModel
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
      throw SocketError(operation: "start", address: "a thread", sentence: "the system has none left")
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

/// A request under way: the host is looked up, then asked.
final class PostRun: HookRun {
  private let loop: EventLoop
  private let url: WebAddress
  private let context: TLSContext?
  private let body: [UInt8]
  private let limit: Int64
  private let resolver: AddressResolver
  private var post: HTTPPost?
  private var then: ((HookOutcome) -> Void)?

  init(
    _ loop: EventLoop, _ url: WebAddress, _ context: TLSContext?, _ body: [UInt8], within limit: Int64,
    then: @escaping (HookOutcome) -> Void
  ) {
    (self.loop, self.url, self.context, self.body) = (loop, url, context, body)
    (self.limit, self.then) = (limit, then)
    resolver = AddressResolver(loop: loop)
  }

  func start() {
    resolver.resolve(url.server) { [weak self] in self?.resolved($0) }
  }

  func stop() {
    then = nil
    post?.cancel()
  }

  func awaitEnd() {}

  private func resolved(_ result: Result<[SocketAddress], SocketError>) {
    guard then != nil else { return }
    switch result {
    case .success(let addresses): ask(addresses[...])
    case .failure(let error): end(.failed("\(error)", isWorthRetrying: true))
    }
  }

  /// Asks at one address after the other until somebody is there.
  private func ask(_ addresses: ArraySlice<SocketAddress>) {
    guard let address = addresses.first else {
      return end(.failed("\(url.authority) has no address", isWorthRetrying: true))
    }
    let rest = addresses.dropFirst()
    do {
      post = try HTTPPost(
        loop: loop, to: url, at: address, context: context, contentType: "application/json", body: body,
        within: limit
      ) { [weak self] in self?.answered($0, rest) }
    } catch {
      rest.isEmpty ? end(.failed("\(error)", isWorthRetrying: true)) : ask(rest)
    }
  }

  private func answered(_ result: Result<Int, SocketError>, _ rest: ArraySlice<SocketAddress>) {
    let wasConnected = post?.wasConnected ?? true
    switch result {
    case .success(let status): end(HookOutcome(status: status))
    case .failure where !rest.isEmpty && !wasConnected: ask(rest)
    case .failure(let error): end(.failed("\(error)", isWorthRetrying: true))
    }
  }

  private func end(_ outcome: HookOutcome) {
    let then = then
    self.then = nil
    then?(outcome)
  }
}
