import PushModel

/// What became of a push, as its provider learnt it.
public struct CapturedOutcome: Equatable, Sendable {
  /// HTTP status, or the status byte of the error packet; 0 on the gateway means silence, which is success.
  public var status: Int
  /// Apple's word; nil if accepted, or where nobody said.
  public var reason: String?
  /// Identifier in the error packet; nil over HTTP, in silence, and where no packet came.
  public var identifier: UInt32?
  /// The gateway closed the connection without a packet (command 0; `Documentation/binary-protocol.md#error-packet`).
  public var isClosed = false
  /// `apns-id` of the answer.
  public var messageID: MessageID?

  public init(status: Int, reason: String? = nil, identifier: UInt32? = nil, messageID: MessageID? = nil) {
    (self.status, self.reason, self.identifier, self.messageID) = (status, reason, identifier, messageID)
  }

  /// Silence of the gateway.
  public static let silence = CapturedOutcome(status: 0)

  /// Whether the push was accepted.
  public var isAccepted: Bool { (status == 0 || status == 200) && !isClosed }
}
