import PushModel

/// A notification that a provider interface has checked up to the token. Bytes are lent for the call.
///
/// Plain bytes itself, because it goes through many hands for each push.
public struct PlainSubmission: BitwiseCopyable {
  public var interface: Interface
  public var command: UInt8 = 0
  public var identifier: UInt32 = 0
  /// The topic that the provider pushes to, if it has one.
  @Packed public var topic: TopicID?
  /// Where the checks found the token, if they asked for it: it need not be looked up again.
  @Packed public var registration: RegistrationID? = nil
  public var environment: Environment
  /// As presented; any length.
  public var token: UnsafeRawBufferPointer
  public var payload: UnsafeRawBufferPointer
  /// The frame that token and payload lie in; empty where they don't share one.
  public var frame = UnsafeRawBufferPointer(start: nil, count: 0)
  /// UNIX seconds; nil where the provider gave none.
  public var expiration: UInt32?
  public var priority = Priority.immediate
  /// Whether the provider named it.
  public var saysPriority = true
  /// nil where the provider said none.
  public var pushType: PushType?
  /// `apns-collapse-id`, at most `Limits.collapseId` bytes; empty for none.
  public var collapseId = UnsafeRawBufferPointer(start: nil, count: 0)
  /// `apns-id` of the answer; nil on the binary interface.
  public var messageID: MessageID?
  /// Connection and authorization, numbered by whoever captures; 0 for none.
  public var connection: UInt32 = 0
  public var credential: UInt32 = 0
  /// Header fields as a `FieldBlock`; empty on the binary interface.
  public var fields = UnsafeRawBufferPointer(start: nil, count: 0)

  /// What a device gets of it.
  var content: MessageContent { MessageContent(payload, collapseId: collapseId) }

  @inlinable @inline(__always)
  public init(
    interface: Interface, topic: TopicID?, environment: Environment, token: UnsafeRawBufferPointer,
    payload: UnsafeRawBufferPointer
  ) {
    (self.interface, self.topic, self.environment) = (interface, topic, environment)
    (self.token, self.payload) = (token, payload)
  }
}
