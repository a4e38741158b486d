import Platform

/// Turns a host name into addresses without holding up the loop: the system's resolver waits for its servers, so it is
/// asked on a thread of its own. Nobody hears of what is asked when this is let go.
public final class AddressResolver {
  public typealias Completion = (Result<[SocketAddress], SocketError>) -> Void

  private let loop: EventLoop
  private var work: BackgroundWork?

  public init(loop: EventLoop) { self.loop = loop }

  /// Calls `completion` once, at once for a numeric host.
  public func resolve(_ address: SocketAddress, _ completion: @escaping Completion) {
    guard !address.isNumeric else { return completion(.success([address])) }
    work = work ?? BackgroundWork(loop)
    let isAsked = work?.run(
      { Result { () throws(SocketError) in try address.resolved() } },
      withoutThread: { .failure(Self.noThread(address)) }, then: completion)
    if isAsked != true { completion(.failure(SocketError.last("resolve", address.description))) }
  }

  private static func noThread(_ address: SocketAddress) -> SocketError {
    SocketError(
      operation: "resolve", address: address.description, sentence: "the system can't start a thread")
  }
}
