import Basics
import PushModel

/// The outcome of a request; there is always exactly one.
public enum ProviderVerdict<Accepted> {
  case accepted(Accepted)
  case rejected(RejectedRequest)
}

/// A request that passed every check; its collapse id and payload are in its message.
public struct AcceptedNotification {
  public var token: DeviceToken
  public var topic: Topic
  /// What `DeviceDirectory.handle(of:)` answered for the topic.
  public var topicHandle: TopicID?
  /// Where `DeviceDirectory.standing` found the token; it may be another's once the token map has changed.
  public var registration: RegistrationID?
  /// Whose provider token came with a push to a token that was not found; nil for others.
  public var team: String?
  /// nil if the request named none; Apple wants one only from watchOS 6 on (`Documentation/provider-api.md#request`).
  public var pushType: PushType?
  public var priority: Priority
  /// Whether the request named it.
  public var saysPriority: Bool
  /// UNIX seconds as sent, 0 for "try once"; nil if the request has none.
  public var expiration: Int64?
  /// Goes out as `apns-id`.
  public var apnsID: APNSID
  /// What strict would have answered; empty unless the check is lenient.
  public var waived: [Waiver]
}

/// A refused request: what to answer, and why.
public struct RejectedRequest: Sendable {
  public var rejection: Rejection
  /// Goes out as `apns-id` (or `apns-request-id`): the request's own, if it has a valid one.
  public var apnsID: APNSID
  /// Since when the token is no good; only with 410.
  public var goneAt: Timestamp?
  public var explanation: Explanation

  public init(
    _ rejection: Rejection, apnsID: APNSID, goneAt: Timestamp? = nil, explanation: Explanation
  ) {
    (self.rejection, self.apnsID) = (rejection, apnsID)
    (self.goneAt, self.explanation) = (goneAt, explanation)
  }

  /// The body of the answer.
  public var body: [UInt8] { ErrorBody.bytes(rejection, goneAt: goneAt) }
}

/// A rule that was not enforced, and is told of.
public struct Waiver: Equatable, Sendable {
  /// Who would enforce it.
  public enum Authority: String, Sendable {
    /// The checks without `--lenient`.
    case strict
    /// Apple's pages, where Apple's servers are seen to take more.
    case documents = "the documents"
  }

  public var authority: Authority
  /// What strict would answer; nil where it would not let the handshake pass.
  public var rejection: Rejection?
  public var explanation: Explanation

  public init(_ authority: Authority = .strict, rejection: Rejection?, explanation: Explanation) {
    (self.authority, self.rejection, self.explanation) = (authority, rejection, explanation)
  }
}

/// The JSON that says why: body of an error answer, and debug data of a GOAWAY
/// (`Documentation/provider-api.md#response`, `#goaway`).
public enum ErrorBody {
  /// `{"reason":"…"}`; with 410 also `timestamp`, in milliseconds since 1970.
  public static func bytes(_ rejection: Rejection, goneAt: Timestamp? = nil) -> [UInt8] {
    let time = rejection.status == 410 ? goneAt.map { ",\"timestamp\":\($0.milliseconds)" } : nil
    return Array("{\"reason\":\"\(rejection.reason)\"\(time ?? "")}".utf8)
  }
}
