import PushModel

/// The token of one app, or a refusal (`Documentation/device-protocol.md#app-token`).
public struct AppTokenResponse: CourierCommandValue {
  public static let command = CourierCommand.appTokenResponse

  /// 0, or a refusal.
  public var status: UInt8
  /// Nil in a refusal.
  public var appToken: DeviceToken?
  public var topic: TopicHash?
  /// As in the request.
  public var appId: [UInt8]?

  /// Here is the token.
  public static let statusGranted: UInt8 = 0
  /// No token. Apple's codes are unknown; this one is ours.
  public static let statusRefused: UInt8 = 1

  /// The app has been removed; for simulated devices that told the token they hold.
  public static let statusRemoved: UInt8 = 2

  /// Grants `appToken`, or refuses with nil.
  public init(
    answering request: AppTokenRequest, with appToken: DeviceToken?, refusal: UInt8 = statusRefused
  ) {
    status = appToken == nil ? refusal : Self.statusGranted
    self.appToken = appToken
    topic = request.topic
    appId = request.appId
  }

  public init(_ frame: CourierFrame) throws(CourierProtocolError) {
    var status: UInt8?
    var token: CourierItemView?
    var items = frame.items
    while let item = try items.next() {
      switch CourierItem.AppTokenResponse(rawValue: item.id) {
      case .status: status = try item.requireInteger()
      case .appToken: token = item
      case .topic: topic = try item.requireTopicHash()
      case .appId: appId = item.bytes
      case nil: continue
      }
    }
    self.status = try Self.require(status, CourierItem.AppTokenResponse.status)
    if self.status == Self.statusGranted {
      appToken = try Self.require(token, CourierItem.AppTokenResponse.appToken).requireToken()
    }
  }

  /// A refusal carries an empty token: one known client cannot read an answer without that item.
  public func encoded(after output: consuming [UInt8]) -> [UInt8] {
    typealias Item = CourierItem.AppTokenResponse
    var writer = CourierFrameWriter(Self.command, after: output)
    writer.item(Item.status, status)
    writer.item(Item.appToken, appToken?.bytes ?? [])
    writer.item(Item.topic, topic)
    writer.item(Item.appId, appId)
    return writer.finish()
  }
}
