import PushModel

/// Why a provider token is not accepted: Apple's reason, and what exactly was wrong. Holds no part of the token but its
/// key and team ids.
public struct ProviderTokenRefusal: Error, Equatable, Sendable, CustomStringConvertible {
  public let rejection: Rejection
  /// A lower-case sentence without a full stop: what was expected and what came.
  public let phrase: Phrase

  init(_ rejection: Rejection, _ phrase: Phrase) {
    self.rejection = rejection
    self.phrase = phrase
  }

  public var explanation: String { phrase.text }

  public var description: String { "\(rejection.reason): \(explanation)" }

  static func invalid(_ phrase: Phrase) -> ProviderTokenRefusal {
    ProviderTokenRefusal(.invalidProviderToken, phrase)
  }
}

/// A provider token that is refused whatever the time, and what could change that.
struct RefusedProviderToken: Error {
  enum Cause: Sendable {
    /// Nothing, or what makes all be judged anew: its bytes are wrong, or its key is revoked.
    case malformed
    /// A key that is dropped in.
    case unknownKey
    /// A change of the files of the key that it names.
    case key(StampedFiles)
  }

  let refusal: ProviderTokenRefusal
  let cause: Cause

  init(_ refusal: ProviderTokenRefusal, _ cause: Cause) { (self.refusal, self.cause) = (refusal, cause) }
}
