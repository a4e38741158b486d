import PushModel

/// How a connection says who it is.
public enum ProviderIdentity {
  /// By the certificate of its TLS handshake; `authorization` is ignored then (`spec/provider-protocol.md` D.2).
  case certificate(ProviderCertificate)
  /// By a provider token in each request.
  case token(any ProviderTokenChecking)

  /// Whether requests authenticate one by one. Such a connection begins with one stream (D.1).
  public var usesTokens: Bool {
    if case .token = self { return true }
    return false
  }
}
