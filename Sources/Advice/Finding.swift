import Basics
import PushModel

/// How bad a finding is, from the least.
public enum Severity: String, Sendable, CaseIterable, Comparable {
  /// Worth knowing.
  case note
  /// Against Apple's advice.
  case warning
  /// Apple refuses it, throttles for it, or a notification is lost by it.
  case error

  public static func < (left: Severity, right: Severity) -> Bool { left.rank < right.rank }

  private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// Every kind of finding. The raw value is its id everywhere; the page `Documentation/advice.md` has a heading of that name for each.
public enum AdviceRule: String, Sendable, CaseIterable {
  case connectionPerPush = "connection-per-push"
  case reconnectStorm = "reconnect-storm"
  case streamsAfterGoAway = "streams-after-goaway"
  case lostAtGoAway = "lost-at-goaway"
  case lostAfterError = "lost-after-error"
  case resentFromTheStart = "resent-from-the-start"
  case tokenRenewedTooOften = "token-renewed-too-often"
  case tokenPerTopic = "token-per-topic"
  case tokenNearItsEnd = "token-near-its-end"
  case pushesToGoneToken = "pushes-to-gone-token"
  case pushesToBadToken = "pushes-to-bad-token"
  case retryOfRefused = "retry-of-refused"
  case retryWithoutPause = "retry-without-pause"
  case oneStreamAtATime = "one-stream-at-a-time"
  case streamLimitIgnored = "stream-limit-ignored"
  case noPushType = "no-push-type"
  case backgroundAtPriority10 = "background-at-priority-10"
  case wrongEnvironment = "wrong-environment"
  case expiresAtOnce = "expires-at-once"
  case feedbackNotRead = "feedback-not-read"
  case identifiersNotUnique = "identifiers-not-unique"
  case command0 = "command-0"
  case oldTLS = "old-tls"
  case errorPacketNotRead = "error-packet-not-read"
  case replacedWhileOffline = "replaced-while-offline"
  case payloadNearlyTooLarge = "payload-nearly-too-large"
  case payload = "payload"

  public static let page = "Documentation/advice.md"
}

/// Something that a provider was seen to do, once for each provider that did it.
public struct Finding: Sendable {
  /// Whom it is about: all connections of one credential from one host on one interface.
  public struct Provider: Hashable, Sendable {
    public var interface: Interface
    /// "" while no credential has been shown.
    public var credential: String
    /// Host of the peer.
    public var peer: String

    public init(interface: Interface, credential: String, peer: String) {
      (self.interface, self.credential, self.peer) = (interface, credential, peer)
    }
  }

  /// Most examples, as a count.
  public static let exampleLimit = 3

  public var rule: AdviceRule
  public var severity: Severity
  public var provider: Provider
  /// Its connections that did it, as a count.
  public var connections: Int
  /// How often.
  public var count: UInt64
  public var first: Timestamp
  public var last: Timestamp
  /// Numbers of the first notifications in the history, at most `exampleLimit`.
  public var examples: [UInt64]
  /// What was seen, with its numbers: one sentence.
  public var sentence: String
  /// What to do about it: one sentence.
  public var remedy: String
  /// How many of `count` a fault has caused, by its name. They are not held against the provider.
  public var underFaults: [(fault: String, count: UInt64)]

  public init(
    rule: AdviceRule, severity: Severity, provider: Provider, connections: Int = 1, count: UInt64 = 1,
    first: Timestamp, last: Timestamp, examples: [UInt64] = [], sentence: String, remedy: String,
    underFaults: [(fault: String, count: UInt64)] = []
  ) {
    (self.rule, self.severity, self.provider, self.connections) = (rule, severity, provider, connections)
    (self.count, self.first, self.last, self.examples) = (count, first, last, examples)
    (self.sentence, self.remedy, self.underFaults) = (sentence, remedy, underFaults)
  }
}
