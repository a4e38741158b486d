import Platform

/// The program's own output: lines on standard output, complaints on standard error.
enum Output {
  /// One line, at once: whoever reads a pipe waits for it.
  static func line(_ text: String) { write(text + "\n", to: STDOUT_FILENO) }

  static func complain(_ text: String) { write("apns-emulator: \(text)\n", to: STDERR_FILENO) }

  /// Text that is no whole line yet.
  static func text(_ text: String) { write(text, to: STDOUT_FILENO) }

  /// Text on standard error as it is, for what is drawn over again.
  static func status(_ text: String) { write(text, to: STDERR_FILENO) }

  private static func write(_ text: String, to descriptor: Int32) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Platform.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }
}
