import Basics
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
    /// Nothing: its bytes are wrong.
    case malformed
    /// Its key's being taken back.
    case revoked
    /// A key that is dropped in.
    case unknownKey
    /// A change of the files of the key that it names.
    case key(StampedFiles)

    /// Whether it may be gone when keys have changed.
    var isOfKeys: Bool {
      if case .malformed = self { false } else { true }
    }
  }

  let refusal: ProviderTokenRefusal
  let cause: Cause

  init(_ refusal: ProviderTokenRefusal, _ cause: Cause) { (self.refusal, self.cause) = (refusal, cause) }
}
