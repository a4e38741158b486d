/// Throws away what a peer says when its connection has nothing more to hear: at the socket, undecrypted.
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

  /// Throws away what is there, up to so many bytes in this turn.
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
