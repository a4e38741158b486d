import COpenSSL
import Platform

extension TLSConnection {
  func handshake() {
    if let breakage, breakage.alert != nil { return answerHello(breakage) }
    ERR_clear_error()
    let status = SSL_do_handshake(ssl)
    guard status != 1 else { return opened() }
    switch SSL_get_error(ssl, status) {
    // OpenSSL writes to the socket itself, so nothing is left behind when it waits for input.
    case SSL_ERROR_WANT_READ: break
    case SSL_ERROR_WANT_WRITE: waitForWritable()
    case SSL_ERROR_SYSCALL: abort("handshake ended: peer closed the connection")
    default: handshakeFailed("handshake failed: \(TLSError.drained("TLS").sentence)")
    }
  }

  /// The alert that says why is on its way. A client of TLS 1.3 may be sending already, and a reset for what was not read
  /// would tell it nothing; so a server ends as it does after an error packet.
  private func handshakeFailed(_ reason: String) {
    guard SSL_is_server(ssl) == 1 else { return abort(reason) }
    endReason = reason
    linger()
  }

  private func opened() {
    phase = .open
    deadline = .max
    handler?.connectionOpened(self)
    // Application data may have come in the same segment as the end of the handshake.
    if phase == .open { queueReading() }
  }

  func readAll() {
    guard let base = loop.scratch.baseAddress else { return }
    var budget = ReadBudget()
    while phase == .open, !isPaused, !isStalled, !peerHasEnded {
      ERR_clear_error()
      let count = SSL_read(ssl, base, Int32(loop.scratch.count))
      guard count > 0 else { return readFailed(count) }
      bytesRead += Int(count)
      handler?.connection(self, received: UnsafeRawBufferPointer(start: base, count: Int(count)))
      if budget.isSpent(Int(count), on: loop) { return queueReading() }
    }
  }

  private func readFailed(_ count: Int32) {
    switch SSL_get_error(ssl, count) {
    case SSL_ERROR_WANT_READ: break
    case SSL_ERROR_WANT_WRITE: waitForWritable()
    case SSL_ERROR_ZERO_RETURN: peerEnded()
    case SSL_ERROR_SYSCALL: abort("peer closed the connection without a TLS close")
    default: abort("TLS: \(TLSError.drained("read").sentence)")
    }
  }

  func flush() {
    isQueuedForFlush = false
    switch phase {
    case .open, .draining: writeAll()
    default: break
    }
  }

  func writeAll() {
    if let breakage, breakage.holdsOutput { return writeBroken(breakage) }
    while !output.isEmpty {
      ERR_clear_error()
      let waiting = output.waiting
      let count = SSL_write(ssl, waiting.baseAddress, Int32(clamping: waiting.count))
      guard count > 0 else { return writeFailed(count) }
      bytesWritten += Int(count)
      output.consume(Int(count), to: loop)
    }
    outputLeft()
  }

  /// Answers how many bytes the kernel took. Whatever keeps it from taking more is met again when the rest is flushed.
  func writeNow(_ bytes: UnsafeRawBufferPointer) -> Int {
    var written = 0
    while written < bytes.count {
      ERR_clear_error()
      let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
      let count = SSL_write(ssl, rest.baseAddress, Int32(clamping: rest.count))
      guard count > 0 else { break }
      written += Int(count)
    }
    bytesWritten += written
    return written
  }

  func outputLeft() {
    if phase == .draining { beginLinger() } else { callDrained() }
  }

  func writeFailed(_ count: Int32) {
    switch SSL_get_error(ssl, count) {
    case SSL_ERROR_WANT_WRITE: waitForWritable()
    case SSL_ERROR_WANT_READ: break
    default:
      _ = TLSError.drained("write")
      abort("peer closed the connection while bytes were being written")
    }
  }

  private func beginLinger() {
    if let breakage, breakage.endsRaw { return writeRaw(breakage) }
    guard mustSettle else { return sendClose() }
    settle { [unowned self] in settled() }
  }

  /// The time is over, or the peer has ended.
  private func settled() {
    endSettling()
    sendClose()
  }

  private func sendClose() {
    ERR_clear_error()
    let status = SSL_shutdown(ssl)
    // Behind the last bytes there may be no room for the TLS close; without it the peer must take the end for a cut.
    if status < 0, SSL_get_error(ssl, status) == SSL_ERROR_WANT_WRITE {
      isClosing = true
      return waitForWritable()
    }
    linger()
  }

  func linger() {
    phase = .lingering
    _ = shutdown(descriptor, Int32(SHUT_WR))
    if peerHasEnded { return abort(endReason) }
    let isPatient = breakage?.waitsForPeer ?? false
    deadline = isPatient ? .max : SystemClock.monotonicNanoseconds() + Self.lingerLimit
    drainInput()
  }

  /// Throws input away at the socket, undecrypted, until the peer has closed.
  func drainInput() {
    guard phase == .lingering, let base = loop.scratch.baseAddress else { return drainWhileClosing() }
    var budget = ReadBudget.byteLimit
    while budget > 0 {
      let count = recv(descriptor, base, loop.scratch.count, 0)
      if count > 0 {
        budget -= count
        guard mayGoOn(count) else { return }
      } else if count < 0, errno == EAGAIN || errno == EINTR {
        return
      } else {
        return abort(endReason)
      }
    }
  }

  /// False if the peer has been cut off for sending on and on.
  private func mayGoOn(_ count: Int) -> Bool {
    inputAfterEnd -= count
    if inputAfterEnd < 0 { abort(endReason, reset: true) }
    return inputAfterEnd >= 0
  }

  /// Output is still leaving: input is thrown away so that a peer that only writes can't block itself.
  private func drainWhileClosing() {
    guard phase == .draining || phase == .settling, let base = loop.scratch.baseAddress else { return }
    let count = recv(descriptor, base, loop.scratch.count, 0)
    if count > 0 { return _ = mayGoOn(count) }
    if count == 0, phase == .settling { return settled() }
    if count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR) { abort("peer closed the connection") }
  }
}
