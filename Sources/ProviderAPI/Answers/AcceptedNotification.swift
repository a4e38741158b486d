import PushModel

/// A request that passed every check.
public struct AcceptedNotification {
  public var token: DeviceToken
  public var topic: Topic
  /// What `DeviceDirectory.handle(of:)` answered for the topic.
  public var topicHandle: TopicID?
  /// nil if the request named none; Apple wants one only from watchOS 6 on (`Documentation/provider-api.md#request`).
  public var pushType: PushType?
  public var priority: Priority
  /// UNIX seconds as sent, 0 for "try once"; nil if the request has none.
  public var expiration: Int64?
  public var collapseID: String?
  /// Goes out as `apns-id`.
  public var messageID: MessageID
  /// The body, lent until the message is reset.
  public var payload: UnsafeRawBufferPointer
  /// What strict would have answered; empty unless the check is lenient.
  public var waived: [Waiver]
}
