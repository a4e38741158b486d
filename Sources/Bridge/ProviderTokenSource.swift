import Basics

/// Gives out the provider token to send, and a new one in good time.
///
/// Apple wants a token renewed at least once an hour and at most once in 20 minutes
/// (`Documentation/provider-api.md#renewal`). Time is the wall clock's, not the emulator's movable clock: the other service
/// judges the token by its own.
package struct ProviderTokenSource {
  /// Age at which a new token is made, in seconds: as most libraries do, well before the hour is over.
  static let renewalAge: Int64 = 45 * 60
  /// A token younger than this is not replaced whatever happens, in seconds.
  static let minimumAge: Int64 = 20 * 60

  private let sign: (Timestamp) throws -> String
  /// Counts the tokens that were made.
  package private(set) var number = 0
  private var current: (text: String, issuedAt: Timestamp)?

  package init(sign: @escaping (Timestamp) throws -> String) { self.sign = sign }

  /// The token to send now.
  package mutating func token(now: Timestamp) throws -> String {
    if let current, age(current.issuedAt, now) < Self.renewalAge { return current.text }
    return try renew(now)
  }

  /// The other service says that the token has expired. Answers whether there is a newer one to try.
  package mutating func expired(now: Timestamp) throws -> Bool {
    guard let current, age(current.issuedAt, now) >= Self.minimumAge else { return false }
    _ = try renew(now)
    return true
  }

  private mutating func renew(_ now: Timestamp) throws -> String {
    let text = try sign(now)
    current = (text, now)
    number += 1
    return text
  }

  /// A clock that was set back makes a token of the future, which is as bad as an old one.
  private func age(_ issuedAt: Timestamp, _ now: Timestamp) -> Int64 {
    let seconds = now.seconds - issuedAt.seconds
    return seconds < -Self.minimumAge ? .max : seconds
  }
}
