/// One request and the answer it gets: at once, later (a long poll), or piece by piece (server-sent events).
///
/// Handlers may keep it for as long as they like. The connection keeps it until the answer is whole; when the
/// client goes before that, who waits for it (`whenGone`) is told, and everything sent afterwards is dropped.
public final class HTTPExchange {
  private enum Phase { case open, streaming, leaving, finished, gone }

  public let request: HTTPRequest
  /// The server is full, and this client is on one of the connections that are kept for requests that must be answered.
  /// The handler is to answer at once, whatever it is; then the connection ends.
  public let isOnReserve: Bool
  private var gone: (() -> Void)?
  private var read: (() -> Void)?
  private weak var outlet: (any HTTPExchangeOutlet)?
  private var phase = Phase.open

  /// An exchange whose answer goes to `outlet`, which is not kept alive by it.
  public init(_ request: HTTPRequest, outlet: any HTTPExchangeOutlet, isOnReserve: Bool = false) {
    (self.request, self.outlet, self.isOnReserve) = (request, outlet, isOnReserve)
  }

  /// Whether the client still waits for (more of) the answer.
  public var isOpen: Bool { phase != .finished && phase != .gone }
  /// Bytes of the answer that the client has not taken yet.
  public var queuedBytes: Int { outlet?.queuedBytes ?? 0 }

  /// Has `call` called once if the client goes before the answer is whole, and what was asked for before not.
  public func whenGone(_ call: @escaping () -> Void) { gone = call }

  /// Has `call` called whenever the client has read all that was sent so far of a stream, until that is whole.
  public func whenRead(_ call: @escaping () -> Void) { read = call }

  /// Has nobody called any more.
  public func stopWaiting() { (gone, read) = (nil, nil) }

  /// The client's connection, where there is one.
  public var connection: HTTPConnection? { outlet as? HTTPConnection }

  /// Answers. Only the first call counts.
  public func respond(_ response: HTTPResponse) {
    guard phase == .open else { return }
    finish()
    outlet?.exchange(self, responds: response)
  }

  /// The answer will leave in pieces.
  public func dribble(bytes: Int, everyNanoseconds interval: Int64) {
    outlet?.exchange(self, dribbles: bytes, everyNanoseconds: interval)
  }

  /// There is no answer, or no more of it: the connection goes wrong instead.
  public func end(by breakage: HTTPBreakage) {
    guard isOpen else { return }
    finish()
    outlet?.exchange(self, breaks: breakage)
  }

  /// Begins an answer whose length is not known; `head.body` is its first piece. Nothing follows the head where it was
  /// asked for alone.
  public func startStream(_ head: HTTPResponse) {
    guard phase == .open else { return }
    if request.method == "HEAD" { finish() } else { phase = .streaming }
    outlet?.exchange(self, startsStream: head)
  }

  /// Adds to a stream. A client that leaves more than `HTTPLimits.unread` unread is cut off.
  public func send(_ bytes: [UInt8]) {
    guard phase == .streaming, !bytes.isEmpty else { return }
    outlet?.exchange(self, sends: bytes)
  }

  /// Ends a stream.
  public func endStream() {
    guard phase == .streaming else { return }
    finish()
    outlet?.exchangeEndsStream(self)
  }

  /// Answers CONNECT with 200. When that has left, `take` gets the client's connection, to give it another owner
  /// (`SocketListener.adopt`, `SocketTunnels.join`). A client that goes before, or that has sent something already, is gone.
  public func becomeTunnel(_ take: @escaping (SocketConnection) -> Void) {
    guard phase == .open else { return }
    phase = .leaving
    outlet?.exchange(self, becomesTunnel: take)
  }

  /// Said by the outlet: the connection has another owner.
  func connectionLeft() { finish() }

  /// Said by the outlet: nothing waits to be read by the client.
  public func roomMade() { read?() }

  /// Said by the outlet: the client is gone.
  public func clientGone() {
    guard isOpen else { return }
    phase = .gone
    let call = gone
    stopWaiting()
    call?()
  }

  private func finish() {
    phase = .finished
    stopWaiting()
  }
}

/// What comes instead of an answer, on purpose.
public enum HTTPBreakage: Sendable {
  /// A TCP RST.
  case reset
  /// Our side ends; what the client still says is discarded for as long as it likes.
  case end
  /// Bytes that are no answer, then the end.
  case garbage([UInt8])
}

/// Where an exchange's answer goes: a connection, or a recorder in a test.
public protocol HTTPExchangeOutlet: AnyObject {
  func exchange(_ exchange: HTTPExchange, responds response: HTTPResponse)
  func exchange(_ exchange: HTTPExchange, startsStream head: HTTPResponse)
  func exchange(_ exchange: HTTPExchange, sends bytes: [UInt8])
  func exchangeEndsStream(_ exchange: HTTPExchange)
  func exchange(_ exchange: HTTPExchange, dribbles bytes: Int, everyNanoseconds interval: Int64)
  func exchange(_ exchange: HTTPExchange, breaks breakage: HTTPBreakage)
  func exchange(_ exchange: HTTPExchange, becomesTunnel take: @escaping (SocketConnection) -> Void)
  /// Bytes that the client has not taken yet.
  var queuedBytes: Int { get }
}
