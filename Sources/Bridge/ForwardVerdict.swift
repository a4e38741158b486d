import Basics
import PushModel

/// What an answer of the other service means for a notification (`Documentation/provider-api.md#response`, `#reasons`).
package enum ForwardVerdict: Equatable {
  case delivered
  /// The token is gone since then; nil if the answer does not say.
  case gone(Timestamp?)
  /// No, for good.
  case rejected(Rejection)
  /// Not now: this notification alone, as there are too many for its device.
  case retryLater
  /// Not now, and nothing else either.
  case unavailable
  /// The provider token has expired.
  case tokenExpired

  /// Reads status and body of an answer.
  package init(status: Int, body: [UInt8]) {
    let document = body.isEmpty ? nil : JSONReader.read(body)
    let reason = document?.string("reason")
    switch status {
    case 200: self = .delivered
    case 410: self = .gone(Self.time(document))
    case 429: self = reason == Rejection.tooManyRequests.reason ? .retryLater : .unavailable
    case 500...: self = .unavailable
    case 403 where reason == Rejection.expiredProviderToken.reason: self = .tokenExpired
    default: self = .rejected(Self.rejection(reason))
    }
  }

  /// Unknown words are status 255. So is a shutdown that claims to be a verdict: its status byte would say that the
  /// notification was accepted (`Documentation/binary-protocol.md#error-packet`).
  private static func rejection(_ reason: String?) -> Rejection {
    guard let rejection = reason.flatMap({ Rejection(reason: $0) }), rejection != .shutdown else {
      return .unknownError
    }
    return rejection
  }

  /// `timestamp`, in milliseconds.
  private static func time(_ document: JSONValue?) -> Timestamp? {
    guard case .integer(let milliseconds)? = document?.member("timestamp") else { return nil }
    let (nanoseconds, overflow) = milliseconds.multipliedReportingOverflow(by: 1_000_000)
    return overflow ? nil : Timestamp(nanoseconds: nanoseconds)
  }

  /// Status and reason word, for people.
  package static func text(status: Int, body: [UInt8]) -> String {
    guard let reason = JSONReader.read(body)?.string("reason") else { return "\(status)" }
    let word = reason.unicodeScalars.filter { $0.isASCII && $0.properties.isAlphabetic }.prefix(wordLimit)
    return "\(status) \(String(String.UnicodeScalarView(word)))"
  }

  /// Longest reason word that is shown, in characters: the longest of Apple's has 27.
  private static let wordLimit = 64
}
