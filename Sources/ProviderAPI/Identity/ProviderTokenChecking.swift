import PushModel

/// Judges provider tokens for one connection. Implemented by whoever holds the keys.
///
/// The implementation remembers what the connection is bound to after its first push (team, environment, related keys) and
/// how often it changed tokens (`Documentation/provider-api.md#provider-tokens`). It should verify each token once and
/// answer from memory after that: it is asked for every request.
public protocol ProviderTokenChecking: AnyObject {
  /// Judges the credentials of `authorization: bearer …`, without the scheme. `token` is lent for the call.
  func check(_ token: UnsafeRawBufferPointer, now: Timestamp) -> ProviderTokenVerdict
}

/// What became of a provider token.
public enum ProviderTokenVerdict {
  case granted(ProviderGrant)
  /// One of the reasons of E. The explanation must not hold the token.
  case refused(Rejection, Explanation)
}
