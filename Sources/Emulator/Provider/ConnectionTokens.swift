import Basics
import Credentials
import ProviderAPI
import PushModel

/// Judges the provider tokens of one connection: the signature and age of each, then whether it may follow those the
/// connection has shown before (`Documentation/provider-api.md#provider-tokens`).
final class ConnectionTokens: ProviderTokenChecking {
  private let verifier: ProviderTokenVerifier
  private let environment: Environment
  private var binding: ProviderConnectionBinding
  private var latest: AdmittedToken?
  /// The token of the last request, and whether it is another than that of the request before, of which nobody was told yet.
  private var shown: VerifiedProviderToken?
  private var isNew = false
  /// From when on there is something to tell of the tokens (`takeRemark`).
  private(set) var remarkableFrom = Timestamp(nanoseconds: .max)

  init(
    verifier: ProviderTokenVerifier, environment: Environment, options: ProviderConnectionBinding.Options,
    teamUpdates: TeamTokenUpdates
  ) {
    (self.verifier, self.environment) = (verifier, environment)
    binding = ProviderConnectionBinding(options: options, teamUpdates: teamUpdates)
  }

  /// Nearly every request shows the token of the one before. Only another one is looked up, or that when keys have changed.
  func check(_ token: Span<UInt8>, now: Timestamp) -> ProviderTokenVerdict {
    if let latest, latest.generation == verifier.generation, latest.stands(for: token, at: now) {
      return .granted(latest.grant)
    }
    // One that is too long is refused for that.
    return admit(Array(token.prefix(ProviderToken.maximumByteCount + 1)), now)
  }

  /// What there is to tell of the tokens since this was asked last; `age` in seconds: a token is old after as many.
  func takeRemark(at now: Timestamp, oldAfter age: Int64) -> TokenRemark? {
    guard let shown else { return nil }
    if isNew {
      isNew = false
      remarkableFrom = shown.issuedAt.adding(nanoseconds: age * 1_000_000_000)
      return .another(shown)
    }
    remarkableFrom = Timestamp(nanoseconds: .max)
    return shown.isOutdated(at: now) ? nil : .old(shown, age: now.seconds - shown.issuedAt.seconds)
  }

  private func note(_ token: VerifiedProviderToken) {
    guard shown?.fingerprint != token.fingerprint else { return }
    (shown, isNew, remarkableFrom) = (token, true, Timestamp(nanoseconds: .min))
  }

  private func admit(_ token: [UInt8], _ now: Timestamp) -> ProviderTokenVerdict {
    switch verifier.verify(compact: token, now: now) {
    case .failure(let refusal): return .refused(refusal)
    case .success(let verified):
      note(verified)
      if let latest, latest.token === verified {
        latest.generation = verifier.generation
        return .granted(latest.grant)
      }
      if let refusal = binding.admit(verified, environment: environment, now: now) {
        latest = nil
        return .refused(refusal)
      }
      let admitted = AdmittedToken(verified, token, verifier.generation)
      latest = admitted
      return .granted(admitted.grant)
    }
  }
}

/// What is seen of a connection's provider tokens, for advice.
enum TokenRemark {
  /// Another than that of the request before.
  case another(VerifiedProviderToken)
  /// It will not be taken for much longer; told once.
  case old(VerifiedProviderToken, age: Int64)
}

/// The token that was admitted last on a connection. An object, so that looking at it does not count the references to everything
/// in it.
private final class AdmittedToken {
  let token: VerifiedProviderToken
  let grant: ProviderGrant
  /// Of the keys by which it was found good.
  var generation: Int
  /// As it was shown. Empty for one that lenient mode takes at its word: its key may be there the next time.
  private let bytes: [UInt8]

  init(_ token: VerifiedProviderToken, _ bytes: [UInt8], _ generation: Int) {
    (self.token, self.generation) = (token, generation)
    self.bytes = token.leniency == nil ? bytes : []
    grant = ProviderGrant(
      keyID: token.keyId, teamID: token.teamId, topics: token.topics.isEmpty ? nil : token.topics,
      waiver: token.waiver)
  }

  /// Whether these are its bytes, and its age is still right.
  func stands(for other: Span<UInt8>, at now: Timestamp) -> Bool {
    let bytes = bytes
    return bytes.span.hasSameBytes(as: other) && !token.isOutdated(at: now) && !token.isAhead(of: now)
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
      rule: Phrase(rule: "provider token", .tokenConnection), expected: "a valid provider token",
      got: phrase)
  }
}
