/// A provider token that is refused whatever the time, and what could change that.
struct RefusedProviderToken: Error {
  enum Cause: Sendable {
    /// Nothing: its bytes are wrong.
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
