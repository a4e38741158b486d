import PushModel

/// A broadcast that passed every check (`Documentation/provider-api.md#broadcast`).
public struct AcceptedBroadcast {
  public var bundle: Topic
  public var channel: ChannelID
  public var storage: ChannelStorage
  public var priority: Priority
  /// UNIX seconds, 0 for "try once".
  public var expiration: Int64
  /// Goes out as `apns-request-id`.
  public var requestID: MessageID
  /// The body, lent until the message is reset.
  public var payload: UnsafeRawBufferPointer
  /// What strict would have answered; empty unless the check is lenient.
  public var waived: [Waiver]
}

/// The outcome of a broadcast request; there is always exactly one.
public enum BroadcastVerdict {
  case accepted(AcceptedBroadcast)
  case rejected(RejectedRequest)
}
