import PushModel

/// One moment at which a fault may strike: what rules are compared with. Bytes are lent for the call.
public struct FaultPoint {
  public var stage: FaultStage
  public var place: FaultPlace
  public var topic: String?
  /// The device token as presented.
  public var token = UnsafeRawBufferPointer(start: nil, count: 0)
  /// What may be a magic word in another place than the token: the name of a channel.
  public var word: String?
  public var priority: Priority?
  /// The client's address, `host:port`.
  public var connection: String?

  public init(_ stage: FaultStage, at place: FaultPlace) { (self.stage, self.place) = (stage, place) }
}
