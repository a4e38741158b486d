import COpenSSL
import Platform

/// Connections that go wrong on purpose.
extension TLSConnection {
  /// An alert record in the clear: type 21, the version that every client takes before it has agreed on one, two bytes,
  /// level fatal (RFC 8446 5.1, 6).
  private static func alertRecord(_ description: UInt8) -> [UInt8] {
    [0x15, 0x03, 0x03, 0x00, 0x02, 0x02, description]
  }

  /// Whether the connection is open and nothing is read or written.
  public var isStalled: Bool { breakage?.isStalled ?? false }

  func makeBreakage() -> TLSBreakage {
    let made = breakage ?? TLSBreakage()
    breakage = made
    return made
  }

  /// Sends what is queued and ends our side; what the peer still says is read and thrown away for as long as it likes.
  public func halfClose() {
    makeBreakage().waitsForPeer = true
    close()
  }

  /// Sends what is queued, then bytes past the TLS layer, and ends.
  public func close(sendingRaw bytes: [UInt8]) {
    guard isOpen else { return }
    (makeBreakage().raw, makeBreakage().endsRaw) = (bytes, true)
    close()
  }

  /// What is queued now, and what joins it before it has left, leaves in pieces of so many bytes, each a record.
  public func dribble(bytes: Int, everyNanoseconds interval: Int64) {
    guard isOpen else { return }
    makeBreakage().dribble = .init(
      bytes: max(1, bytes), interval: interval, retried: isBlocked ? output.count : 0)
    queueFlush()
  }

  /// Answers the client's first bytes with an alert.
  func setAlert(_ description: UInt8) { makeBreakage().alert = description }

  func endIfPeerIsGone() {
    if SocketCalls.peerIsGone(descriptor) { abort("peer closed the connection") }
  }

  // MARK: Writing

  func writeBroken(_ breakage: TLSBreakage) {
    guard !breakage.isStalled, let dribble = breakage.dribble, dribble.pause == nil else { return }
    guard !output.isEmpty else { return dribbled(breakage) }
    ERR_clear_error()
    let waiting = output.waiting
    let size = min(waiting.count, max(dribble.bytes, dribble.retried))
    let count = SSL_write(ssl, waiting.baseAddress, Int32(clamping: size))
    guard count > 0 else {
      breakage.dribble?.retried = size
      return writeFailed(count)
    }
    bytesWritten += Int(count)
    output.consume(Int(count), to: loop)
    breakage.dribble?.retried = 0
    if output.isEmpty { dribbled(breakage) } else { pause(breakage, dribble.interval) }
  }

  private func dribbled(_ breakage: TLSBreakage) {
    breakage.dribble = nil
    outputLeft()
  }

  private func pause(_ breakage: TLSBreakage, _ interval: Int64) {
    let timer = LoopEvent(timerOn: loop) { [unowned self, unowned breakage] in
      breakage.dribble?.pause = nil
      queueFlush()
    }
    breakage.dribble?.pause = timer
    timer.start(afterNanoseconds: interval)
    // It takes as long as it was asked to.
    if phase == .draining { deadline = SystemClock.monotonicNanoseconds() + interval + Self.drainLimit }
  }

  func writeRaw(_ breakage: TLSBreakage) {
    while breakage.rawSent < breakage.raw.count {
      let count = breakage.raw.withUnsafeBytes {
        SocketCalls.send(descriptor, UnsafeRawBufferPointer(rebasing: $0[breakage.rawSent...]))
      }
      guard count > 0 else {
        let error = SocketCalls.lastError
        return error == EAGAIN || error == EINTR ? waitForWritable() : abort("peer closed the connection")
      }
      breakage.rawSent += count
    }
    linger()
  }

  /// The client's first bytes have come: they are thrown away, and the alert is all that it hears.
  func answerHello(_ breakage: TLSBreakage) {
    guard let base = loop.scratch.baseAddress, let alert = breakage.alert else { return }
    let count = recv(descriptor, base, loop.scratch.count, 0)
    guard count > 0 else {
      return count < 0 && (errno == EAGAIN || errno == EINTR) ? () : abort("peer closed the connection")
    }
    phase = .draining
    endReason = "answered with TLS alert \(alert)"
    (breakage.raw, breakage.alert) = (Self.alertRecord(alert), nil)
    writeRaw(breakage)
  }
}
