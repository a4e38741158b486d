import COpenSSL

/// OpenSSL keeps what went wrong in a queue per thread. A stale entry would be blamed on the next TLS call,
/// so everything here that can fail empties the queue before it returns.
enum OpenSSLError {
  /// Forgets what went wrong so far.
  static func clear() { ERR_clear_error() }

  /// Takes the newest reason out of the queue as an error; `action` says what was tried.
  static func take(_ action: String) -> CredentialsError {
    defer { ERR_clear_error() }
    guard let text = ERR_reason_error_string(ERR_peek_last_error()) else {
      return CredentialsError(.cryptography, "OpenSSL could not \(action)")
    }
    return CredentialsError(.cryptography, "OpenSSL could not \(action): \(String(cString: text))")
  }
}
