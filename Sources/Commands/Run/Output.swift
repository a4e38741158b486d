import Platform

/// The program's own output: lines on standard output, complaints on standard error.
///
/// What can't be written is a failure of the command: nobody is told of a success that they have nothing of. A reader that
/// has gone has all it wants, and hears no complaint.
enum Output {
  /// One line, at once: whoever reads a pipe waits for it. Answers whether anybody reads.
  @discardableResult
  static func line(_ text: String) throws(CommandFailure) -> Bool { try self.text(text + "\n") }

  /// Text that is no whole line yet. Answers whether anybody reads.
  @discardableResult
  static func text(_ text: String) throws(CommandFailure) -> Bool {
    switch write(text, to: STDOUT_FILENO) {
    case 0: return true
    case EPIPE: return false
    case let code: throw failure(code)
    }
  }

  static func failure(_ code: Int32) -> CommandFailure {
    CommandFailure("can't write to standard output: \(SocketCalls.sentence(code))")
  }

  /// Waits only so long for somebody to read it, in nanoseconds: `serve` must end with its status anyway.
  static func complain(_ text: String) {
    complaints.add(line: "apns-emulator: \(text)")
    complaints.drain(within: complaintPatience)
  }

  private static let complaints = BackgroundOutput(STDERR_FILENO)
  private static let complaintPatience: Int64 = 2_000_000_000

  /// Text on standard error as it is, for what is drawn over again.
  static func status(_ text: String) { _ = write(text, to: STDERR_FILENO) }

  /// Answers the error number of what went wrong, 0 for nothing.
  private static func write(_ text: String, to descriptor: Int32) -> Int32 {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Platform.write(descriptor, $0.baseAddress, $0.count) }
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if errno == EAGAIN {
        // Somebody who shares the terminal or pipe has made it non-blocking.
        var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&waiting, 1, -1)
      } else if errno != EINTR {
        return errno
      }
    }
    return 0
  }
}
