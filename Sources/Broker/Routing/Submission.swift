import Basics
import PushModel

/// A notification that a provider interface has checked up to the token, with what only some have.
@dynamicMemberLookup
package struct Submission {
  /// What all have.
  package var plain: PlainSubmission
  package var detail: NotificationDetail?

  package init(
    interface: Interface, topic: TopicID?, environment: Environment, token: UnsafeRawBufferPointer,
    payload: UnsafeRawBufferPointer
  ) {
    plain = PlainSubmission(
      interface: interface, topic: topic, environment: environment, token: token, payload: payload)
  }

  package init(_ plain: PlainSubmission, detail: NotificationDetail?) {
    (self.plain, self.detail) = (plain, detail)
  }

  package subscript<Value>(dynamicMember member: WritableKeyPath<PlainSubmission, Value>) -> Value {
    @inline(__always) get { plain[keyPath: member] }
    @inline(__always) set { plain[keyPath: member] = newValue }
  }
}

/// What became of a submission.
package struct SubmissionResult {
  /// The notification's id.
  package var id: UInt64
  /// nil means accepted.
  package var rejection: Rejection?
  /// With `unregistered`: when the device reported the app gone.
  package var goneAt: Timestamp?
  /// The device is behind: the provider may be slowed down.
  package var isCongested = false

  package init(id: UInt64, rejection: Rejection? = nil, goneAt: Timestamp? = nil, isCongested: Bool = false) {
    (self.id, self.rejection, self.goneAt, self.isCongested) = (id, rejection, goneAt, isCongested)
  }
}

/// A notification that a provider interface has checked up to the token. Bytes are lent for the call.
///
/// Plain bytes itself, because it goes through many hands for each push.
package struct PlainSubmission: BitwiseCopyable {
  package var interface: Interface
  package var command: UInt8 = 0
  package var identifier: UInt32 = 0
  /// The topic that the provider pushes to, if it has one.
  @Packed package var topic: TopicID?
  /// Where the checks found the token, if they asked for it: it need not be looked up again.
  @Packed package var registration: RegistrationID? = nil
  package var environment: Environment
  /// As presented; any length.
  package var token: UnsafeRawBufferPointer
  package var payload: UnsafeRawBufferPointer
  /// The frame that token and payload lie in; empty where they don't share one.
  package var frame = UnsafeRawBufferPointer(start: nil, count: 0)
  /// UNIX seconds; nil where the provider gave none.
  package var expiration: UInt32?
  package var priority = Priority.immediate
  /// Whether the provider named it.
  package var saysPriority = true
  /// nil where the provider said none.
  package var pushType: PushType?
  /// `apns-collapse-id`, at most `Limits.collapseId` bytes; empty for none.
  package var collapseId = UnsafeRawBufferPointer(start: nil, count: 0)
  /// `apns-id` of the answer; nil on the binary protocol.
  package var apnsID: APNSID?
  /// Connection and authorization, numbered by whoever captures; 0 for none.
  package var connection: UInt32 = 0
  package var credential: UInt32 = 0
  /// Header fields as a `FieldBlock`; empty on the binary protocol.
  package var fields = UnsafeRawBufferPointer(start: nil, count: 0)

  /// What a device gets of it.
  var content: NotificationContent { NotificationContent(payload, collapseId: collapseId) }

  @inlinable @inline(__always)
  package init(
    interface: Interface, topic: TopicID?, environment: Environment, token: UnsafeRawBufferPointer,
    payload: UnsafeRawBufferPointer
  ) {
    (self.interface, self.topic, self.environment) = (interface, topic, environment)
    (self.token, self.payload) = (token, payload)
  }
}
