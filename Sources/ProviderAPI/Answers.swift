import Basics
import PushModel

/// The outcome of a request; there is always exactly one.
package enum ProviderVerdict<Accepted> {
  case accepted(Accepted)
  case rejected(RejectedRequest)
}

/// A request that passed every check.
package struct AcceptedNotification {
  package var token: DeviceToken
  package var topic: Topic
  /// What `DeviceDirectory.handle(of:)` answered for the topic.
  package var topicHandle: TopicID?
  /// Where `DeviceDirectory.standing` found the token; it may be another's once the token map has changed.
  package var registration: RegistrationID?
  /// Whose provider token came with a push to a token that was not found; nil for others.
  package var team: String?
  /// nil if the request named none; Apple wants one only from watchOS 6 on (`Documentation/provider-api.md#request`).
  package var pushType: PushType?
  package var priority: Priority
  /// Whether the request named it.
  package var saysPriority: Bool
  /// UNIX seconds as sent, 0 for "try once"; nil if the request has none.
  package var expiration: Int64?
  /// Lent until the message is reset; empty if the request has none.
  package var collapseID: UnsafeRawBufferPointer
  /// Goes out as `apns-id`.
  package var apnsID: APNSID
  /// The body, lent until the message is reset.
  package var payload: UnsafeRawBufferPointer
  /// What strict would have answered; empty unless the check is lenient.
  package var waived: [Waiver]
}

/// A refused request: what to answer, and why.
package struct RejectedRequest: Sendable {
  package var rejection: Rejection
  /// Goes out as `apns-id` (or `apns-request-id`): the request's own, if it has a valid one.
  package var apnsID: APNSID
  /// Since when the token is no good; only with 410.
  package var goneAt: Timestamp?
  package var explanation: Explanation

  package init(
    _ rejection: Rejection, apnsID: APNSID, goneAt: Timestamp? = nil, explanation: Explanation
  ) {
    (self.rejection, self.apnsID) = (rejection, apnsID)
    (self.goneAt, self.explanation) = (goneAt, explanation)
  }

  /// The body of the answer.
  package var body: [UInt8] { ErrorBody.bytes(rejection, goneAt: goneAt) }
}

/// A rule that was not enforced, and is told of.
package struct Waiver: Equatable, Sendable {
  /// Who would enforce it.
  package enum Authority: String, Sendable {
    /// The checks without `--lenient`.
    case strict
    /// Apple's pages, where Apple's servers are seen to take more.
    case documents = "the documents"
  }

  package var authority: Authority
  /// What strict would answer; nil where it would not let the handshake pass.
  package var rejection: Rejection?
  package var explanation: Explanation

  package init(_ authority: Authority = .strict, rejection: Rejection?, explanation: Explanation) {
    (self.authority, self.rejection, self.explanation) = (authority, rejection, explanation)
  }
}

/// The JSON that says why: body of an error answer, and debug data of a GOAWAY
/// (`Documentation/provider-api.md#response`, `#goaway`).
package enum ErrorBody {
  /// `{"reason":"…"}`; with 410 also `timestamp`, in milliseconds since 1970.
  package static func bytes(_ rejection: Rejection, goneAt: Timestamp? = nil) -> [UInt8] {
    let time = rejection.status == 410 ? goneAt.map { ",\"timestamp\":\($0.milliseconds)" } : nil
    return Array("{\"reason\":\"\(rejection.reason)\"\(time ?? "")}".utf8)
  }
}
