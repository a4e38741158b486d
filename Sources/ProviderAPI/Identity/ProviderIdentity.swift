import PushModel

/// How a connection says who it is.
public enum ProviderIdentity {
  /// By the certificate of its TLS handshake; `authorization` is ignored then
  /// (`Documentation/provider-api.md#request`).
  case certificate(ProviderCertificate)
  /// By a provider token in each request.
  case token(any ProviderTokenChecking)

  /// Whether requests authenticate one by one. Such a connection begins with one stream
  /// (`Documentation/provider-api.md#settings`).
  public var usesTokens: Bool {
    if case .token = self { return true }
    return false
  }
}
