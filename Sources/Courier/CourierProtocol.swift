import CourierWire
import Transport

/// The names that the device protocol goes by in ALPN, and what each means (`Documentation/device-protocol.md#alpn`).
///
/// | name | framing | who the device is |
/// |---|---|---|
/// | none, `apns-security-v2` | plain | its certificate in the TLS handshake, unless connect brings a proof |
/// | `apns-security-v3` | plain | certificate and signed nonce in connect |
/// | `apns-pack-v1`, perhaps with two cache sizes | packed | the same |
package enum CourierProtocol {
  static let certificateInside = "apns-security-v3"
  static let certificateInHandshake = "apns-security-v2"

  /// A record's head and body in one call of the system, in bytes: what OpenSSL holds for a record anyway.
  private static let readAhead = 16 << 10

  /// The listener's. The plain form is preferred: every device that knows the packed one can do without it.
  package static var policy: TLSPolicy {
    var policy = TLSPolicy()
    policy.readAhead = readAhead
    policy.peersSayLittle = true
    policy.clientCertificate = .optional
    policy.protocols = ALPNChoice(
      clientCertificate: { $0 == certificateInHandshake ? .optional : TLSPolicy.ClientCertificate.none },
      choose)
    // Judged when the device connects, which can be answered and logged.
    policy.chainCheck = { _, _ in nil }
    return policy
  }

  private static func choose(_ offers: [String]) -> String? {
    if offers.contains(certificateInside) { return certificateInside }
    return offers.first { PackName($0) != nil } ?? offers.first { $0 == certificateInHandshake }
  }
}

/// Both directions of the packed form on one connection. An object, so that other connections hold no more than nil.
final class CourierPacking {
  var decoder: PackDecoder
  var encoder: PackEncoder

  /// nil where the plain form was agreed on.
  init?(alpn: String?) {
    guard let name = alpn.flatMap(PackName.init) else { return nil }
    decoder = PackDecoder(cacheByteCount: name.outgoing)
    encoder = PackEncoder(cacheByteCount: name.incoming)
  }
}
