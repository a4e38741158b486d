import PushModel

/// A device asks for the token of one of its apps (`Documentation/device-protocol.md#app-token`).
public struct AppTokenRequest: CourierCommandValue {
  public static let command = CourierCommand.appTokenRequest
  public static let form = CourierForm<AppTokenRequest>([
    CourierField(1, .token, \.baseToken), CourierField(2, .topicHash, \.topic),
    CourierField(3, .bytes(ofNumber: 2), \.appId), CourierField(0xe1, .topicName, \.topicName),
    CourierField(0xe2, .looseToken, \.heldToken),
    CourierField(
      0xe5, .context, put: { $0.context = $1 }, get: { if $0.context != .absent { $1($0.context) } }),
    CourierField(
      0xe6, .bytes(ofNumber: 1), put: { $0.isOver = $1 == [1] }, get: { if $0.isOver { $1([1]) } }),
  ])

  public var baseToken: DeviceToken?
  public var topic: TopicHash
  /// Echoed in the answer as it came.
  public var appId: [UInt8]?
  /// The topic's name, told by simulated devices only.
  public var topicName: Topic?
  /// The token that the device remembers for the topic, told by simulated devices only. One of an app that was removed
  /// while the device was offline is better answered by `AppTokenResponse.statusRemoved` than by a new install.
  public var heldToken: DeviceToken?
  /// What of the topic the token is for, told by simulated devices only; nil for all of it.
  public var context = Context.absent
  /// The token of the context is not needed any more.
  public var isOver = false

  /// What an app-token request says of a context.
  public enum Context: Equatable, Sendable {
    case absent
    case named(TokenContext)
    /// Something that is none.
    case unreadable
  }

  public init(
    baseToken: DeviceToken?, topic: TopicHash, topicName: Topic? = nil, heldToken: DeviceToken? = nil,
    context: TokenContext? = nil, isOver: Bool = false
  ) {
    self.baseToken = baseToken
    self.topic = topic
    self.topicName = topicName
    self.heldToken = heldToken
    self.context = context.map(Context.named) ?? .absent
    self.isOver = isOver
  }

  public init() { topic = TopicHash() }
}

extension CourierKind where Value == AppTokenRequest.Context {
  fileprivate static var context: Self {
    Self {
      TokenContext($0.text).map(Value.named) ?? .unreadable
    } write: { context, body in
      if case .named(let name) = context { body += name.text.utf8 }
    }
  }
}

/// The token of one app, or a refusal (`Documentation/device-protocol.md#app-token`).
public struct AppTokenResponse: CourierCommandValue {
  public static let command = CourierCommand.appTokenResponse
  public static let form = CourierForm<AppTokenResponse>([
    CourierField(1, .integer, \.status), CourierField(2, .tokenOrNone, \.token),
    CourierField(3, .topicHash, \.topic), CourierField(4, .bytes(ofNumber: 2), \.appId),
  ])

  /// 0, or a refusal.
  public var status: UInt8
  /// Empty in a refusal: one known client cannot read an answer without that item.
  private var token: [UInt8]?
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
    token = appToken?.bytes ?? []
    topic = request.topic
    appId = request.appId
  }

  /// Nil in a refusal.
  public var appToken: DeviceToken? {
    status == Self.statusGranted ? token.flatMap { DeviceToken(bytes: $0) } : nil
  }

  public init() { status = Self.statusRefused }

  /// Who is granted a token is told it.
  public func check() throws(CourierProtocolError) {
    guard status == Self.statusGranted, appToken == nil else { return }
    guard let token else { throw .itemMissing(command: Self.command, item: 2) }
    throw .itemMalformed(2, length: token.count)
  }
}

extension CourierKind where Value == [UInt8] {
  fileprivate static var tokenOrNone: Self {
    Self(packing: CourierItemPacking(isCached: true), read: { $0.bytes }, write: { $1 += $0 })
  }
}
