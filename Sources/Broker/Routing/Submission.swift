import Basics
import PushModel

/// A notification that a provider interface has checked up to the token, with what only some have.
public struct Submission: ~Escapable {
  /// What all have.
  public var plain: PlainSubmission
  public var detail: NotificationDetail?

  @_lifetime(copy token, copy payload)
  public init(
    interface: Interface, topic: TopicID?, environment: Environment, token: Span<UInt8>, payload: Span<UInt8>
  ) {
    plain = PlainSubmission(
      interface: interface, topic: topic, environment: environment, token: token, payload: payload)
  }

  @_lifetime(copy plain)
  public init(_ plain: PlainSubmission, detail: NotificationDetail?) {
    (self.plain, self.detail) = (plain, detail)
  }
}

/// What became of a submission.
public struct SubmissionResult {
  /// The notification's id.
  public var id: UInt64
  /// nil means accepted.
  public var rejection: Rejection?
  /// With `unregistered`: when the device reported the app gone.
  public var goneAt: Timestamp?
  /// The device is behind: the provider may be slowed down.
  public var isCongested = false

  public init(id: UInt64, rejection: Rejection? = nil, goneAt: Timestamp? = nil, isCongested: Bool = false) {
    (self.id, self.rejection, self.goneAt, self.isCongested) = (id, rejection, goneAt, isCongested)
  }
}

/// A notification that a provider interface has checked up to the token. Bytes are lent for the call.
///
/// Plain bytes itself, because it goes through many hands for each push.
public struct PlainSubmission: ~Escapable {
  public var interface: Interface
  public var command: UInt8 = 0
  public var identifier: UInt32 = 0
  /// The topic that the provider pushes to, if it has one.
  @Packed public var topic: TopicID?
  /// Where the checks found the token, if they asked for it: it need not be looked up again.
  @Packed public var registration: RegistrationID? = nil
  public var environment: Environment
  /// As presented; any length.
  public var token: Span<UInt8>
  public var payload: Span<UInt8>
  /// The frame that token and payload lie in; empty where they don't share one.
  public var frame: Span<UInt8>
  /// UNIX seconds; nil where the provider gave none.
  public var expiration: UInt32?
  public var priority = Priority.immediate
  /// Whether the provider named it.
  public var saysPriority = true
  /// nil where the provider said none.
  public var pushType: PushType?
  /// `apns-collapse-id`, at most `Limits.collapseId` bytes; empty for none.
  public var collapseId: Span<UInt8>
  /// `apns-id` of the answer; nil on the binary protocol.
  public var apnsID: APNSID?
  /// Connection, and authorization as it is numbered for a capture; 0 for none.
  public var connection: UInt32 = 0
  public var credential: UInt32 = 0
  /// Header fields as a `FieldBlock`; empty on the binary protocol.
  public var fields: Span<UInt8>

  /// What a device gets of it.
  var content: NotificationContent {
    @_lifetime(copy self) get { NotificationContent(payload, collapseId: collapseId) }
  }

  @inlinable @inline(__always)
  @_lifetime(copy token, copy payload)
  public init(
    interface: Interface, topic: TopicID?, environment: Environment, token: Span<UInt8>, payload: Span<UInt8>
  ) {
    (self.interface, self.topic, self.environment) = (interface, topic, environment)
    (self.token, self.payload) = (token, payload)
    (frame, collapseId, fields) = (.none, .none, .none)
  }
}
