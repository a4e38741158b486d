import PushModel

/// What a simulated device remembers between runs, besides its key and certificate.
public struct DeviceState: Equatable, Sendable {
  /// An installed app.
  public struct App: Equatable, Sendable {
    public let topic: Topic
    /// What the protocol calls the topic.
    public let hash: TopicHash
    /// Nil until the service has given one.
    public var token: DeviceToken?

    public init(topic: Topic, token: DeviceToken? = nil) {
      self.topic = topic
      hash = TopicHash(topic)
      self.token = token
    }
  }

  public var udid: UDID
  /// Offered at every connect; nil on first contact.
  public var baseToken: DeviceToken?
  /// In the order in which they were installed.
  public var apps: [App]

  public init(udid: UDID, baseToken: DeviceToken? = nil, apps: [App] = []) {
    self.udid = udid
    self.baseToken = baseToken
    self.apps = apps
  }
}
