import Basics
import Cluster
import ClusterRouter
import Transport
import Zones

/// One request that another node's console is asked, and its answer as it comes.
///
///     calling ─→ asked ─ head ─→ answering ─ end ─→ over
///        └──────────┴──────────────┴─ lost, silent, given up ─→ over
final class AskedConsole: ConnectionHandler, OpenQuestion {
  /// The zone of the device that it is about; nil for what is the node's own.
  let zone: ZoneNumber?
  /// Who is asked.
  private(set) var peer: NodePeer?
  private let request: HTTPRequest
  private let timeout: Int64?
  private var reader: (any AnswerReader)?
  private var parser: HTTPResponseParser
  private var silence: LoopEvent?
  /// Told once; the reader was told before, unless it has given up.
  private let over: (AskedConsole) -> Void
  /// Of the one call that it waits for.
  private var stopCalling: (() -> Void)?
  private var connection: SocketConnection?
  private var isPaused = false

  /// `timeout`: how long the node may say nothing, in nanoseconds; nil for as long as its connection stays.
  init(
    _ request: HTTPRequest, of zone: ZoneNumber?, _ reader: any AnswerReader, _ loop: EventLoop,
    timeout: Int64?, over: @escaping (AskedConsole) -> Void
  ) {
    (self.request, self.zone, self.reader, self.timeout) = (request, zone, reader, timeout)
    self.over = over
    var limits = HTTPLimits()
    limits.body = .max
    parser = HTTPResponseParser(limits: limits, isAnswerToHead: request.method == "HEAD")
    guard let timeout else { return }
    silence = LoopEvent(timerOn: loop) { [unowned self] in
      lose("it did not answer within \(timeout / 1_000_000) ms")
    }
    silence?.start(afterNanoseconds: timeout)
  }

  func begin(_ peer: NodePeer, _ caller: NodeCaller) {
    self.peer = peer
    let stop = caller.call(peer, for: .console) { [weak self] in
      self?.stopCalling = nil
      switch $0 {
      case .success(let connection): self?.ask(connection)
      case .failure(let failure): self?.lose(failure.sentence)
      }
    }
    if reader != nil, connection == nil { stopCalling = stop }
  }

  private func ask(_ connection: SocketConnection) {
    guard reader != nil else { return }
    self.connection = connection
    connection.handler = self
    connection.send(RelayedRequest.bytes(request))
    connection.setPaused(isPaused)
  }

  // MARK: The answer

  func connection(_ connection: SocketConnection, received bytes: Span<UInt8>) {
    parser.receive(bytes)
    if let timeout, !isPaused { silence?.start(afterNanoseconds: timeout) }
    do {
      while let reader, let event = try parser.next() {
        switch event {
        case .head(let head): reader.answered(head)
        case .piece(let piece): reader.received(piece)
        case .end: end { $0.ended(nil) }
        }
      }
    } catch { lose("a bad answer: \(error)") }
  }

  func connectionClosed(_ connection: SocketConnection, reason: String) {
    guard self.connection === connection else { return }
    self.connection = nil
    lose("the connection was lost, and the request may have been carried out")
  }

  // MARK: OpenQuestion

  func setPaused(_ isPaused: Bool) {
    guard isPaused != self.isPaused, reader != nil else { return }
    self.isPaused = isPaused
    connection?.setPaused(isPaused)
    if isPaused { silence?.cancel() } else if let timeout { silence?.start(afterNanoseconds: timeout) }
  }

  func hold(_ bytes: Int) { connection?.hold(bytes) }

  func giveUp() { end { _ in } }

  // MARK: Ending

  /// There is no answer, or no more of it.
  func lose(_ failure: String) { end { $0.ended(failure) } }

  private func end(_ tell: (any AnswerReader) -> Void) {
    guard let reader else { return }
    let (stop, connection) = (stopCalling, connection)
    (self.reader, silence, stopCalling, self.connection) = (nil, nil, nil, nil)
    stop?()
    connection?.abort("over", reset: true)
    tell(reader)
    over(self)
  }
}
