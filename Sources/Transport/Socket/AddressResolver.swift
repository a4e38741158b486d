import Platform

/// Turns a host name into addresses without holding up the loop: the system's resolver waits for its servers, so it is
/// asked on a thread of its own.
public final class AddressResolver {
  public typealias Completion = (Result<[SocketAddress], SocketError>) -> Void

  /// The thread's result. The thread writes it before it sends a number through the pipe, the loop reads it after it has
  /// received one: never both at once, which is why it may be shared.
  private final class Answer: @unchecked Sendable {
    var result: Result<[SocketAddress], SocketError>?
  }

  private let loop: EventLoop
  private var pipe: NumberPipe?
  private var event: LoopEvent?
  private var thread: WorkerThread?

  public init(loop: EventLoop) { self.loop = loop }

  /// Calls `completion` once, at once for a numeric host. One question at a time.
  public func resolve(_ address: SocketAddress, _ completion: @escaping Completion) {
    guard !address.isNumeric else { return completion(.success([address])) }
    guard event == nil, let pipe = NumberPipe() else {
      return completion(.failure(SocketError.last("resolve", address.description)))
    }
    let answer = Answer()
    let event = LoopEvent(loop, descriptor: pipe.reader, .read) { [weak self] in
      _ = pipe.receive()
      self?.finish()
      completion(
        answer.result ?? .failure(SocketError.last("resolve", address.description)))
    }
    (self.pipe, self.event) = (pipe, event)
    event.start()
    thread = WorkerThread {
      answer.result = Result { () throws(SocketError) in try address.resolved() }
      pipe.send(1)
    }
    if thread == nil { pipe.send(1) }
  }

  private func finish() {
    thread?.join()
    event?.cancel()
    pipe?.close()
    (pipe, event, thread) = (nil, nil, nil)
  }
}
