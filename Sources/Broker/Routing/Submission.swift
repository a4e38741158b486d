import PushModel

/// A notification that a provider interface has checked up to the token, with what only some have.
@dynamicMemberLookup
public struct Submission {
  /// What all have.
  public var plain: PlainSubmission
  public var detail: NotificationDetail?

  public init(
    interface: Interface, topic: TopicID?, environment: Environment, token: UnsafeRawBufferPointer,
    payload: UnsafeRawBufferPointer
  ) {
    plain = PlainSubmission(
      interface: interface, topic: topic, environment: environment, token: token, payload: payload)
  }

  public init(_ plain: PlainSubmission, detail: NotificationDetail?) {
    (self.plain, self.detail) = (plain, detail)
  }

  public subscript<Value>(dynamicMember member: WritableKeyPath<PlainSubmission, Value>) -> Value {
    @inline(__always) get { plain[keyPath: member] }
    @inline(__always) set { plain[keyPath: member] = newValue }
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
