import Basics
import PushModel

/// A provider's connection, as it is known when it opens.
package struct SeenConnection {
  /// Counts connections of this run, from 1.
  package var number: UInt32
  package var interface: Interface
  /// Whose it is, in words that give nothing away: "the certificate of com.example.app", "provider tokens of team TEAM"; nil until a
  /// token is shown.
  package var credential: String?
  /// Host of the peer, without its port.
  package var peer: String
  /// As OpenSSL names it, such as "TLSv1.2"; nil without TLS.
  package var tlsVersion: String?

  package init(
    number: UInt32, interface: Interface, credential: String?, peer: String, tlsVersion: String?
  ) {
    (self.number, self.interface, self.credential) = (number, interface, credential)
    (self.peer, self.tlsVersion) = (peer, tlsVersion)
  }
}

/// What is known of a connection when it has ended.
package struct SeenEnd {
  /// Pushes that came on it, accepted or not.
  package var pushes = 0
  /// Most requests that were open at a time.
  package var mostStreams = 0
  /// How many it might have opened at a time, at the least: but for the single stream that there is before the first provider token.
  package var streamLimit = 0
  /// It was closed while an error packet of ours lay unread, or a push came behind one.
  package var leftPacketUnread = false
  /// The fault rule that ended it; nil for none.
  package var fault: String?

  package init() {}
}

/// What happens on a connection besides pushes.
package enum ConnectionEvent: ~Escapable {
  /// The certificate is not for the environment that the provider came to, so that the connection is ended before any push.
  case otherEnvironment
  /// Another provider token than that of the request before: its number in this run, and the team that signed it.
  case providerToken(number: UInt32, team: String, topic: UInt32)
  /// A push was accepted whose provider token is older than `Adviser.oldToken`, by the emulator's clock: once for each token and connection.
  /// `age` is in seconds.
  case tokenNearItsEnd(number: UInt32, age: Int64)
  /// We have said GOAWAY, for this reason; by a fault, if there is its name.
  case goAway(fault: String?)
  /// A request was dropped since its stream is above the last that GOAWAY names.
  case droppedAboveGoAway(LostPush)
  /// A request was refused since too many were open. Only if the provider had acknowledged the SETTINGS that say how many: before, it
  /// can't know.
  case streamLimitViolated
  /// An error packet was written, for the notification that the provider calls so; by a fault, if there is its name.
  case errorPacket(status: UInt8, identifier: UInt32, fault: String?)
  /// A frame that was accepted on this connection before the one that got the error packet: after `errorPacket`, the newest
  /// `Adviser.acceptedLimit` of them, as the history has them. For this the feed looks at the history, and at no push before.
  case acceptedBeforeError(LostPush)
  /// A frame came behind one that was rejected, and was discarded.
  case discardedBehindError(LostPush)
  /// So many bytes came behind a rejected frame that nobody looks at them any more: at least so many frames were lost.
  case discardedUnseen(count: Int)
  /// A push that came here and was stored for a device that is offline was replaced by a newer one: its number in the history.
  case replacedWhileOffline(push: UInt64)
}

/// A push as far as it takes to know it again: one that was not looked at, so that its provider has to send it again, or one that must
/// not come again. Both are empty where only a stream was seen, and no request.
package struct LostPush: ~Escapable {
  package let token: Span<UInt8>
  package let payload: Span<UInt8>

  @_lifetime(copy token, copy payload)
  package init(token: Span<UInt8>, payload: Span<UInt8>) { (self.token, self.payload) = (token, payload) }

  /// Whether it has no token, or one byte in its place: a frame like that asks for an error packet, by which a provider learns that all
  /// before it was accepted (`Documentation/binary-protocol.md#deliberately-bad-frames`).
  var isForNobody: Bool { token.count <= 1 }
}

/// A push that has its verdict.
package struct SeenPush: ~Escapable {
  /// Its number in the history.
  package var id: UInt64
  package var connection: UInt32
  package var interface: Interface
  /// Command and identifier of the binary protocol; 0 elsewhere.
  package var command: UInt8 = 0
  package var identifier: UInt32 = 0
  package var environment: Environment
  /// nil if the provider said none (HTTP), or can't say one (binary). Where the topic leaves no other (`PushType.implied(by:)`), that.
  package var pushType: PushType?
  package var priority = Priority.immediate
  /// UNIX seconds; nil where the provider gave none.
  package var expiration: UInt32?
  package let token: Span<UInt8>
  package let payload: Span<UInt8>
  /// nil means accepted, or that a fault gave no answer: what comes of that is for its provider to find out.
  package var rejection: Rejection?
  /// Accepted, though the app is gone: the binary protocol tells of that by the feedback service alone.
  package var isForGoneApp = false
  /// The fault rule that was injected into it; nil for none. What it refused is never held against the provider.
  package var fault: String?

  @_lifetime(copy token, copy payload)
  package init(
    id: UInt64, connection: UInt32, interface: Interface, environment: Environment, token: Span<UInt8>,
    payload: Span<UInt8>
  ) {
    (self.id, self.connection, self.interface, self.environment) = (id, connection, interface, environment)
    (self.token, self.payload) = (token, payload)
  }
}

/// Something that `explain` finds in a payload.
package struct PayloadProblem: Sendable {
  /// Its name, such as `silent-with-alert`: a provider has one finding of each.
  package var kind: String
  package var severity: Severity
  /// What is wrong, as it stands behind a colon, up to the full stop; with no value of the payload in it.
  package var sentence: String
  package var remedy: String

  package init(kind: String, severity: Severity, sentence: String, remedy: String) {
    (self.kind, self.severity, self.sentence, self.remedy) = (kind, severity, sentence, remedy)
  }
}

/// When something was seen.
package struct Moment: Sendable {
  /// For how long things take: no test sets it.
  package var instant: Instant
  /// By the emulator's clock, for people.
  package var time: Timestamp

  package init(_ instant: Instant, _ time: Timestamp) { (self.instant, self.time) = (instant, time) }
}
