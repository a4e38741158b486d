import PushModel

/// A service that ended a connection with an alert of TLS (RFC 8446 6.2), most often for the certificate.
///
/// With TLS 1.2 it comes within the handshake, with 1.3 behind it, when a client believes that it is connected: here it is
/// one thing with one wording.
struct TLSRefusal: Error, Equatable, CustomStringConvertible {
  /// The alert as OpenSSL calls it: `unknown ca`.
  let alert: String

  /// Reads why a connection ended; nil if it was for something else.
  init?(_ reason: String) {
    // OpenSSL names protocol and alert: "tlsv1 alert unknown ca", "sslv3 alert handshake failure".
    guard let range = reason.firstRange(of: " alert ") else { return nil }
    alert = String(reason[range.upperBound...])
  }

  var description: String { "the service refused the TLS connection with the alert \"\(alert)\"" }

  /// What `send` says of a push that could not be sent; `members` tell of the interface.
  func json(_ members: [(String, JSONValue)]) -> JSONValue {
    .object(members + [("accepted", false), ("explanation", .string(description))])
  }
}
