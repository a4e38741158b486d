import Basics
import Broker
import PushModel
import Transport

/// One notification of the gateway as it goes out over HTTP/2.
package struct ForwardPush {
  /// How long a notification that is not to be stored is tried, in nanoseconds: the other service being busy for a moment
  /// should not lose it, and later it has no use.
  static let unstoredTimeout: Int64 = 10_000_000_000

  /// Its id in the journal when it came; a later one has a larger id.
  package var id: UInt64
  /// Its id in the journal now: a provider that sends it again makes a new record.
  package var record: UInt64
  /// The id under which it outlives this process (`PendingForwards`).
  var kept: Int64 = 0
  /// It came before a restart.
  var isRestored = false
  /// Number of the provider's connection, and its place there; 0 if that went with an earlier process.
  package var connection: Int
  var sequence: UInt64
  var token: [UInt8]
  var payload: [UInt8]
  /// Index and name of the certificate's topic.
  package var topic: TopicID?
  var topicName: String
  package var environment: Environment
  var type: PushType
  package var priority: Priority
  /// UNIX seconds as the provider sent it.
  var expiration: UInt32?
  /// When there is no use in trying any more.
  var expiresAt: Timestamp
  var apnsID: APNSID
  /// How often it was handed over.
  package var attempts = 0
  /// How often that was in vain.
  var tries = ForwardTries()
  /// Its provider takes it for discarded: it is of use only if the other service accepts it this time.
  var isDiscarded = false
  /// When it was sent last.
  var sentAt = Instant.distantPast
  /// Number of the provider token that it was sent with.
  package var tokenNumber = 0

  /// A notification that came at a place of a connection; it has no id yet.
  package init(
    _ submission: Submission, topicName: String, connection: Int, sequence: UInt64,
    now: Timestamp
  ) {
    (id, self.record, self.connection, self.sequence) = (0, 0, connection, sequence)
    (token, payload) = (Array(submission.plain.token), Array(submission.plain.payload))
    (topic, self.topicName, environment) = (submission.plain.topic, topicName, submission.plain.environment)
    (type, priority, expiration) = (
      submission.plain.pushType ?? .alert, submission.plain.priority, submission.plain.expiration
    )
    expiresAt = Self.expiry(submission.plain.expiration, received: now)
    apnsID = submission.plain.apnsID ?? APNSID(high: 0, low: 0)
  }

  /// Until when a notification is tried: to its expiration, 30 days if it has none
  /// (`Documentation/provider-api.md#open-questions`).
  package static func expiry(_ expiration: UInt32?, received: Timestamp) -> Timestamp {
    let latest = received.adding(nanoseconds: Limits.defaultStorageSeconds * 1_000_000_000)
    guard let expiration else { return latest }
    let earliest = received.adding(nanoseconds: unstoredTimeout)
    return max(earliest, min(Timestamp(seconds: Int64(expiration)), latest))
  }

  /// Where the verdict goes.
  var ticket: PushTicket { PushTicket(waiter: connection, sequence: sequence) }

  package var path: String { "/3/device/\(Hex.encode(token))" }

  /// The request's header fields (`Documentation/provider-api.md#request`).
  func head(authority: String, providerToken: String) -> HTTP2RequestHead {
    // Background pushes must not ask for more (`Documentation/provider-api.md#push-types`); the binary protocol never
    // minded.
    let urgency = type == .background ? Priority.conserving : priority
    var fields = [
      (name: "authorization", value: "bearer \(providerToken)"), (name: "apns-topic", value: topicName),
      (name: "apns-push-type", value: type.name), (name: "apns-priority", value: "\(urgency.rawValue)"),
      (name: "apns-id", value: apnsID.description),
    ]
    if let expiration { fields.append((name: "apns-expiration", value: "\(expiration)")) }
    return HTTP2RequestHead(authority: authority, fields: fields)
  }
}
