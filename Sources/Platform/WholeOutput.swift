import Basics
import CLibrary

/// Bytes that are to be written whole.
public enum WholeOutput {
  /// Whether a write has failed because nobody reads any more.
  public static func isUnread(_ error: Int32) -> Bool { error == EPIPE }

  /// Writes for as long as it takes, also where somebody has made the descriptor non-blocking; answers how many bytes were
  /// written, and the error number of what went wrong, 0 for nothing.
  public static func write(
    _ bytes: Span<UInt8>, to descriptor: Int32
  ) -> (count: Int, error: Int32) {
    var written = 0
    while written < bytes.count {
      let count = DescriptorCalls.write(descriptor, bytes.dropping(written))
      if count > 0 {
        written += count
      } else if count < 0, errno == EAGAIN || errno == EWOULDBLOCK {
        // Who shares the terminal or pipe has made it so, or it is a pipe of ours.
        _ = DescriptorCalls.poll(descriptor, for: Int32(POLLOUT), within: -1)
      } else if count == 0 || errno != EINTR {
        return (written, count == 0 ? ENOSPC : errno)
      }
    }
    return (written, 0)
  }
}
