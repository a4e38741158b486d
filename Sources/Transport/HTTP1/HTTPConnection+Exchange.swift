import Platform

/// How an exchange is answered on the connection.
extension HTTPConnection: HTTPExchangeOutlet {
  public var queuedBytes: Int { writer.count }

  public func exchange(_ exchange: HTTPExchange, responds response: HTTPResponse) {
    guard exchange === self.exchange else { return }
    let keeps = keepsConnection(exchange) && !response.endsConnection
    let isHead = exchange.request.method == "HEAD"
    queue(
      HTTPFraming.head(
        response, isHead ? .headOnly(keepsConnection: keeps) : .whole(keepsConnection: keeps)))
    answered(keepsConnection: keeps)
  }

  public func exchange(_ exchange: HTTPExchange, dribbles bytes: Int, everyNanoseconds interval: Int64) {
    guard exchange === self.exchange else { return }
    writer.leaveInPieces(bytes, every: interval)
  }

  public func exchange(_ exchange: HTTPExchange, breaks breakage: HTTPBreakage) {
    guard exchange === self.exchange else { return }
    switch breakage {
    case .reset:
      SocketCalls.setResetOnClose(descriptor)
      return abort()
    case .end: waitsForPeer = true
    case .garbage(let bytes): queue(bytes)
    }
    self.exchange = nil
    drain()
  }

  public func exchange(_ exchange: HTTPExchange, startsStream head: HTTPResponse) {
    guard exchange === self.exchange else { return }
    streamIsChunked = !exchange.request.isVersion10
    var bare = head
    bare.body = []
    queue(HTTPFraming.head(bare, streamIsChunked ? .chunked : .untilEnd))
    guard exchange.request.method != "HEAD" else {
      return answered(keepsConnection: streamIsChunked && keepsConnection(exchange))
    }
    self.exchange(exchange, sends: head.body)
  }

  public func exchange(_ exchange: HTTPExchange, sends bytes: [UInt8]) {
    guard exchange === self.exchange, !bytes.isEmpty else { return }
    queue(streamIsChunked ? HTTPFraming.chunk(bytes) : bytes)
    if writer.count > limits.unread { abort() }
  }

  public func exchangeEndsStream(_ exchange: HTTPExchange) {
    guard exchange === self.exchange else { return }
    let keeps = streamIsChunked && keepsConnection(exchange)
    if streamIsChunked { queue(HTTPFraming.lastChunk) }
    answered(keepsConnection: keeps)
  }

  private func keepsConnection(_ exchange: HTTPExchange) -> Bool {
    exchange.request.keepsConnection && !endsAfterAnswer
  }
}
