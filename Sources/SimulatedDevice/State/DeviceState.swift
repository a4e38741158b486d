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
  /// Contexts of topics that have tokens of their own.
  public internal(set) var contexts: [ContextToken] = []

  public init(udid: UDID, baseToken: DeviceToken? = nil, apps: [App] = []) {
    self.udid = udid
    self.baseToken = baseToken
    self.apps = apps
  }

  /// Installed apps at most, as a count: the filter that names them all has to fit one frame.
  public static let maximumApps = 1000

  /// Installs those apps that it has not, while there are not too many.
  public mutating func add(_ topics: [Topic]) {
    for topic in topics { _ = add(topic) }
  }

  /// False if it is there already, or there are too many.
  mutating func add(_ topic: Topic) -> Bool {
    guard apps.count < Self.maximumApps, !apps.contains(where: { $0.topic == topic }) else { return false }
    apps.append(App(topic: topic))
    return true
  }
}

extension DeviceState: JSONDocument {
  /// A remembered state that cannot be used.
  public struct UnreadableError: Error, CustomStringConvertible {
    public let description: String
  }

  private static let app = JSONKind<App>("an object", ["type": "object"]) { value, place in
    let object = try JSONObject(value, place: place).droppingNull("token")
    return App(topic: try object.required("topic", .topic), token: try object.value("token", .token))
  } write: {
    ["topic": .string($0.topic.name), "token": .optional($0.token?.hex)]
  }

  private static let context = JSONKind<ContextToken>("an object", ["type": "object"]) { value, place in
    let object = try JSONObject(value, place: place).droppingNull("token")
    return ContextToken(
      TokenNeed(try object.required("topic", .topic), try object.required("context", .tokenContext)),
      token: try object.value("token", .token), isOver: try object.value("isOver", .flag) ?? false)
  } write: {
    [
      "topic": .string($0.need.topic.name), "context": .string($0.need.context.text),
      "token": .optional($0.token?.hex), "isOver": .bool($0.isOver),
    ]
  }

  public static let form = JSONForm<DeviceState>([
    JSONField("udid", .udid, \.udid).needed, JSONField(nullable: "baseToken", .token, \.baseToken),
    JSONField("apps", .list(of: app, "objects"), \.apps).needed,
    JSONField(
      "contexts", .list(of: context, "objects"), get: { $0.contexts.isEmpty ? nil : $0.contexts },
      set: { $0.contexts = $1 }),
  ])

  /// The state as a JSON object.
  public var json: JSONValue { document }

  /// Reads what `json` wrote, here or in a later version, whose further members are passed over. The file belongs to the
  /// user, so everything else in it is checked.
  public init(json bytes: [UInt8]) throws(UnreadableError) {
    do {
      let written = try JSONObject(body: bytes).members
      let object = JSONObject(members: written.filter { Self.form.names.contains($0.0) })
      self.init(udid: try object.required("udid", .udid))
      try Self.form.read(object, into: &self)
    } catch {
      throw UnreadableError(description: "the device's state is not what was written: \(error)")
    }
  }
}
