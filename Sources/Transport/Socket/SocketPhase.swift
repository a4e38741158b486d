/// Where a connection is on the way from its first byte to its last.
///
///     connecting ─→ handshaking ─→ open ─→ draining ─→ settling ─→ closing ─→ lingering ─→ closed
///      (clients)     │              ↑↓        │        (if a delay  (TLS close  ↑ (input is thrown away)
///                    │           stalled      │         is wanted)   has no room)
///                    │                        └─ raw bytes ─→ parting ──────────┤
///     alerting ──────┼────────────────────────────────────────↗                 │
///                    └─ failed, on a server ────────────────────────────────────┘
///
/// Where the diagram lies: `abort` leads from everywhere to `closed`, and so does whatever shows that the peer is gone. Without
/// TLS a server begins with `open`, and a client is there once it is connected. Draining, settling and closing are passed through at once where nothing is to be waited for.
///
/// *Lingering* is why an error packet reaches its reader: a socket closed with unread input makes the kernel send
/// a reset, which may destroy bytes in flight. So the write side ends first and input is drained until the peer is done
/// (`Documentation/binary-protocol.md#error-packet`; RFC 9112 9.6).
///
/// Holds nothing that is counted by reference, as it is looked at for each read and write. Whoever acts on it names every
/// phase.
enum SocketPhase: Equatable {
  /// The system connects.
  case connecting
  case handshaking
  /// A fault: the client's first bytes are answered with the TLS alert of this description, and it hears nothing else.
  case alerting(UInt8)
  case open
  /// A fault: open, and nothing is read or written.
  case stalled
  /// The owner has closed, and output leaves.
  case draining(Ending)
  /// Bytes leave past the TLS layer, the last of this side.
  case parting
  /// The TLS close waits for its time.
  case settling(Timeout)
  /// The TLS close waits for room: without it the peer must take the end for a cut.
  case closing(Timeout)
  case lingering
  case closed

  /// Whether bytes may be sent.
  var isOpen: Bool {
    switch self {
    case .open, .stalled: true
    case .connecting, .handshaking, .alerting, .draining, .parting, .settling, .closing, .lingering, .closed:
      false
    }
  }

  /// Whether they are also read and written.
  var isFlowing: Bool { if case .open = self { true } else { false } }

  /// How this side ends once its output has left.
  enum Ending: Equatable {
    case inOrder(Timeout)
    /// A fault: with bytes past the TLS layer, and no TLS close.
    case raw
  }

  /// For how long the peer may go on when this side has ended.
  enum Timeout: Equatable {
    /// `SocketConnection.lingerLimit`.
    case usual
    /// A fault: for as long as it likes.
    case endless
  }
}

/// Discards what a peer says when its connection has nothing more to hear: at the socket, undecrypted.
struct InputDrain {
  enum Progress {
    /// More may come.
    case waiting
    /// The peer has ended its side.
    case ended
    /// The peer is gone.
    case gone
    /// It sends on and on.
    case exceeded
  }

  /// How much may come before the peer is to be cut off, in bytes.
  var allowance = Int.max

  /// Discards what is there, up to so many bytes in this turn.
  mutating func drain(
    _ layer: borrowing SocketLayer, into scratch: UnsafeMutableRawBufferPointer, atMost budget: Int
  ) -> Progress {
    var budget = budget
    while budget > 0 {
      switch layer.readRaw(into: scratch) {
      case .moved(let count):
        budget -= count
        allowance -= count
        guard allowance >= 0 else { return .exceeded }
      case .needsInput: return .waiting
      case .ended: return .ended
      case .needsRoom, .cut, .failed: return .gone
      }
    }
    return .waiting
  }
}
