import Platform

/// Makes the connections that lead out, to servers that the operator has named. Nothing here waits: names are looked up on threads
/// of their own, a few at a time.
public final class OutsideConnector {
  /// Why there is no connection, as a proxy's client is told.
  public struct Failure: Error, Equatable {
    public let status: Int
    public let sentence: String
  }

  private let loop: EventLoop
  private let atOnce: Int
  private let timeout: Int64
  private var underWay: [ObjectIdentifier: Attempt] = [:]

  /// `atOnce`: connections that may be under way at a time; each may take a thread while its name is looked up. `timeout`: how
  /// long one may take with all addresses of its host, in nanoseconds; unless told otherwise as long as a handshake.
  public init(loop: EventLoop, atOnce: Int = 32, timeout: Int64 = SocketConnection.handshakeLimit) {
    (self.loop, self.atOnce, self.timeout) = (loop, atOnce, timeout)
  }

  /// Calls `done` once, with a connection that is open and not read from, or why there is none. What is answered gives it up.
  public func connect(
    to address: SocketAddress, _ done: @escaping (Result<SocketConnection, Failure>) -> Void
  ) -> (() -> Void) {
    guard underWay.count < atOnce else {
      done(.failure(Failure(status: 503, sentence: "too many connections are being made, try again")))
      return {}
    }
    let attempt = Attempt(loop, address, timeout: timeout, done) { [weak self] in
      self?.underWay[ObjectIdentifier($0)] = nil
    }
    underWay[ObjectIdentifier(attempt)] = attempt
    attempt.begin()
    return { [weak attempt] in attempt?.giveUp() }
  }

  /// One connection to be.
  private final class Attempt: ConnectionHandler {
    /// It is over: nothing more is under way for it, a look-up neither.
    private let onOver: (Attempt) -> Void
    private let loop: EventLoop
    private let target: SocketAddress
    private let resolver: AddressResolver
    private var timer: LoopEvent?
    private let timeout: Int64
    /// Who waits for it; nil when that is over.
    private var done: ((Result<SocketConnection, Failure>) -> Void)?
    private var untried: ArraySlice<SocketAddress> = []
    private var current: SocketConnection?
    private var isResolving = false

    init(
      _ loop: EventLoop, _ target: SocketAddress, timeout: Int64,
      _ done: @escaping (Result<SocketConnection, Failure>) -> Void, onOver: @escaping (Attempt) -> Void
    ) {
      (self.loop, self.target, self.timeout, self.done) = (loop, target, timeout, done)
      self.onOver = onOver
      resolver = AddressResolver(loop: loop)
      timer = LoopEvent(timerOn: loop) { [unowned self] in expire() }
    }

    func begin() {
      timer?.start(afterNanoseconds: timeout)
      isResolving = true
      resolver.resolve(target) { self.resolved($0) }
    }

    /// Nobody waits any more, or takes what has come of it.
    func giveUp() {
      done = nil
      current?.abort("the client closed its connection", reset: true)
      end()
    }

    private func expire() {
      fail(504, "\(target) did not answer within \(timeout / 1_000_000_000) s")
    }

    private func resolved(_ result: Result<[SocketAddress], SocketError>) {
      isResolving = false
      switch result {
      case .success(let addresses) where done != nil:
        untried = addresses[...]
        connectToNext("it has no address")
      case .failure(let error) where done != nil: fail(502, "\(error)")
      case .success, .failure: end()
      }
    }

    private func connectToNext(_ failure: String) {
      guard let address = untried.popFirst() else {
        return fail(502, "can't connect to \(target): \(failure)")
      }
      do {
        current = try TLSClient.connect(loop: loop, to: address, serverName: nil, context: nil, handler: self)
      } catch {
        connectToNext("\(error)")
      }
    }

    private func fail(_ status: Int, _ sentence: String) {
      let call = done
      done = nil
      current?.abort("given up")
      end()
      call?(.failure(Failure(status: status, sentence: sentence)))
    }

    /// A name that is being looked up is waited for: its thread can't be told to stop.
    private func end() {
      timer?.cancel()
      untried = []
      if !isResolving { onOver(self) }
    }

    func connectionOpened(_ connection: SocketConnection) {
      connection.setPaused(true)
      let call = done
      done = nil
      end()
      call?(.success(connection))
    }

    func connection(_ connection: SocketConnection, received bytes: Span<UInt8>) {}

    func connectionClosed(_ connection: SocketConnection, reason: String) {
      current = nil
      if done != nil { connectToNext(reason) }
    }
  }
}
