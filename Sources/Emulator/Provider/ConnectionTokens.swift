import Credentials
import ProviderAPI
import PushModel

/// Judges the provider tokens of one connection: the signature and age of each, then whether it may follow those the
/// connection has shown before (`Documentation/provider-api.md#provider-tokens`).
final class ConnectionTokens: ProviderTokenChecking {
  private let verifier: ProviderTokenVerifier
  private let environment: Environment
  private var binding: ProviderConnectionBinding
  /// The token admitted last, with its grant: nearly every request shows the same one.
  private var latest: (token: VerifiedProviderToken, grant: ProviderGrant)?

  init(
    verifier: ProviderTokenVerifier, environment: Environment, options: ProviderConnectionBinding.Options,
    teamUpdates: TeamTokenUpdates
  ) {
    (self.verifier, self.environment) = (verifier, environment)
    binding = ProviderConnectionBinding(options: options, teamUpdates: teamUpdates)
  }

  func check(_ token: UnsafeRawBufferPointer, now: Timestamp) -> ProviderTokenVerdict {
    switch verifier.verify(compact: token, now: now) {
    case .failure(let refusal): return .refused(refusal)
    case .success(let verified):
      if latest?.token === verified, let grant = latest?.grant { return .granted(grant) }
      if let refusal = binding.admit(verified, environment: environment, now: now) {
        latest = nil
        return .refused(refusal)
      }
      let grant = ProviderGrant(
        keyID: verified.keyId, teamID: verified.teamId,
        topics: verified.topics.isEmpty ? nil : verified.topics,
        waiver: verified.waiver)
      latest = (verified, grant)
      return .granted(grant)
    }
  }
}

extension VerifiedProviderToken {
  fileprivate var waiver: Waiver? {
    leniency.map { Waiver(rejection: $0.rejection, explanation: $0.inContext) }
      ?? deviation.map { Waiver(.documents, rejection: $0.rejection, explanation: $0.inContext) }
  }
}

extension ProviderTokenVerdict {
  static func refused(_ refusal: ProviderTokenRefusal) -> ProviderTokenVerdict {
    .refused(refusal.rejection, refusal.inContext)
  }
}

extension ProviderTokenRefusal {
  fileprivate var inContext: Explanation {
    Explanation(
      rule: Phrase(rule: "provider token", .tokenConnection), expected: "a token that is good here and now",
      got: phrase)
  }
}
