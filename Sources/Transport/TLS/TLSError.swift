import COpenSSL

/// A failure of the TLS layer, in words for the log.
public struct TLSError: Error, CustomStringConvertible, Sendable {
  public var operation: String
  public var sentence: String

  /// Empties OpenSSL's error queue into one sentence.
  static func drained(_ operation: String) -> TLSError {
    var sentences: [String] = []
    while case let code = ERR_get_error(), code != 0 {
      sentences.append(ERR_reason_error_string(code).map { String(cString: $0) } ?? "error \(code)")
    }
    return TLSError(
      operation: operation, sentence: sentences.isEmpty ? "no detail" : sentences.joined(separator: ", "))
  }

  public var description: String { "\(operation): \(sentence)" }
}
