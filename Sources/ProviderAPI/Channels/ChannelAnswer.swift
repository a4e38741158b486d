import PushModel

/// The answer to a channel management request (`Documentation/provider-api.md#channel-management`).
public struct ChannelAnswer: Sendable {
  public var status: Int
  /// Goes out as `apns-request-id`.
  public var requestID: MessageID
  /// Goes out as `apns-channel-id`.
  public var channelID: ChannelID?
  public var body: [UInt8]
  /// Set when the request was refused.
  public var rejected: RejectedRequest?

  init(status: Int, requestID: MessageID, channelID: ChannelID? = nil, body: [UInt8] = []) {
    (self.status, self.requestID) = (status, requestID)
    (self.channelID, self.body) = (channelID, body)
  }

  init(_ rejected: RejectedRequest) {
    (status, requestID) = (rejected.rejection.status, rejected.messageID)
    body = rejected.body
    self.rejected = rejected
  }
}
