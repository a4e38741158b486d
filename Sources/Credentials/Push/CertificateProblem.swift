import Basics
import COpenSSL

/// Why a client's certificate is not accepted in strict mode.
public struct CertificateProblem: Error, Equatable, Sendable, CustomStringConvertible {
  /// What is wrong; two problems are equal when this is.
  public enum Code: Sendable {
    case malformed, expired, notYetValid, unknownCA, notForClients, namesNoTopic, namesNoEnvironment,
      revoked, unfitKey, unverifiable
  }

  public let code: Code
  /// A lower-case sentence without a full stop.
  public let sentence: String
  /// `X509_V_ERR_…`: what makes OpenSSL send the fitting alert (`certificate_expired`, `unknown_ca`, …).
  public let verificationError: Int32

  public var description: String { sentence }

  public static func == (left: CertificateProblem, right: CertificateProblem) -> Bool {
    left.code == right.code
  }

  init(_ code: Code, _ sentence: String, error: Int32) {
    self.code = code
    self.sentence = sentence
    verificationError = error
  }

  public static let malformed = CertificateProblem(
    .malformed, "the client's certificate can't be parsed", error: X509_V_ERR_CERT_REJECTED)

  public static let namesNoTopic = CertificateProblem(
    .namesNoTopic, "the certificate names no topic, neither in the topics extension nor in the subject's UID",
    error: X509_V_ERR_INVALID_PURPOSE)

  public static let namesNoEnvironment = CertificateProblem(
    .namesNoEnvironment,
    "the certificate has neither of Apple's environment extensions and its common name none of Apple's prefixes",
    error: X509_V_ERR_INVALID_PURPOSE)

  public static let revoked = CertificateProblem(
    .revoked, "the certificate was revoked (certs revoke)", error: X509_V_ERR_CERT_REVOKED)

  /// Not even lenient mode uses it.
  public static let unfitKey = CertificateProblem(
    .unfitKey, "the certificate is not for \(StrangersKey.sentence)", error: X509_V_ERR_CERT_REJECTED)

  /// Whether all is well with who issued it, and only what it says is wrong.
  var isOfKnownIssuer: Bool { code == .namesNoTopic || code == .namesNoEnvironment }

  /// What OpenSSL's error code says of a certificate with this issuer and end; nil for none.
  init?(verificationError error: Int32, issuer: String, notBefore: Timestamp?, notAfter: Timestamp?) {
    guard error != X509_V_OK else { return nil }
    let text = unsafe String(cString: X509_verify_cert_error_string(Int(error)))
    switch error {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      self.init(.expired, "\(text): the client's is valid until \(notAfter?.rfc3339 ?? "?")", error: error)
    case X509_V_ERR_CERT_NOT_YET_VALID:
      self.init(
        .notYetValid, "\(text): the client's is valid from \(notBefore?.rfc3339 ?? "?")", error: error)
    case X509_V_ERR_INVALID_PURPOSE:
      self.init(.notForClients, "the certificate is not for client authentication", error: error)
    case _ where Self.isUnknownCA(error):
      self.init(
        .unknownCA,
        "its issuer \"\(issuer.prefix(100))\" is neither the CA of the certs folder nor in the trust folder",
        error: error)
    default: self.init(.unverifiable, text, error: error)
    }
  }

  static func isUnknownCA(_ error: Int32) -> Bool {
    switch error {
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
      X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT,
      X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
      true
    default: false
    }
  }
}
