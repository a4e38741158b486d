import CLibrary
import Platform

import Transport

/// A client's end of a connection that writes down what happens to it.
final class Recorder: ConnectionHandler {
  private(set) var hasOpened = false
  private(set) var received: [UInt8] = []
  /// Why the connection ended; nil while it is there.
  private(set) var endReason: String?
  /// The server ended in order: its TLS close came, not just an end of stream or a reset.
  private(set) var sawClose = false
  /// What comes after the handshake, at once.
  var onOpened: ((SocketConnection) -> Void)?
  var onReceived: ((Span<UInt8>) -> Void)?

  var hasEnded: Bool { endReason != nil }

  func connectionOpened(_ connection: SocketConnection) {
    hasOpened = true
    onOpened?(connection)
  }

  func connection(_ connection: SocketConnection, received bytes: Span<UInt8>) {
    received.append(bytes)
    onReceived?(bytes)
  }

  func connectionClosed(_ connection: SocketConnection, reason: String) {
    sawClose = connection.peerHasEnded
    endReason = reason
  }
}

extension SocketConnection {
  /// Whether bytes have come to this end that it has not read: what the other end has really sent.
  var hasUnreadInput: Bool {
    var byte: UInt8 = 0
    return recv(descriptor, &byte, 1, Int32(MSG_PEEK)) > 0
  }
}

extension SocketConnection {
  /// How much the kernel may hold of what this end writes, in bytes.
  func setSendBuffer(_ bytes: Int32) {
    var size = bytes
    setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
  }

  /// How much the kernel may hold of what this end has not read, in bytes.
  func setReceiveBuffer(_ bytes: Int32) {
    var size = bytes
    setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
  }
}
