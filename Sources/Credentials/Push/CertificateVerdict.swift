import PushModel

/// What became of a client's certificate.
public struct CertificateVerdict: Equatable, Sendable {
  /// What the certificate says; nil if it could not be parsed.
  public let certificate: PushCertificate?
  /// What strict mode has against it, also where lenient mode let it pass.
  public let problem: CertificateProblem?
  public let isAccepted: Bool

  /// Nil accepts; otherwise the `X509_V_ERR_…` with which the handshake fails.
  public var verificationError: Int32? { isAccepted ? nil : problem?.verificationError }

  /// Where the provider may push: what the certificate says, or everywhere if lenient mode accepted one that says
  /// nothing.
  public var environments: EnvironmentSet {
    guard isAccepted, let certificate else { return [] }
    return certificate.environments.isEmpty ? .both : certificate.environments
  }
}
