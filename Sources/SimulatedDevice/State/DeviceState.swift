import Basics
import CourierWire
import PushModel

/// A token that a device asks for: of an installed app, or of one context of a topic.
package struct HeldToken: Equatable, Sendable {
  package let need: TokenNeed
  /// What the protocol calls the topic.
  let hash: TopicHash
  /// Nil until the service has given one.
  package internal(set) var token: DeviceToken?
  /// The phone has no use for it any more, and the service has not confirmed its end yet.
  package internal(set) var isOver: Bool

  package init(_ need: TokenNeed, token: DeviceToken? = nil, isOver: Bool = false) {
    (self.need, self.token, self.isOver) = (need, token, isOver)
    hash = TopicHash(need.topic)
  }

  package var topic: Topic { need.topic }
}

/// What a simulated device remembers between runs, besides its key and certificate.
package struct DeviceState: Equatable, Sendable {
  package var udid: UDID
  /// Offered at every connect; nil on first contact.
  package var baseToken: DeviceToken?
  /// Apps in the order in which they were installed, then contexts.
  var held: [HeldToken]

  package init(udid: UDID, baseToken: DeviceToken? = nil, apps: [HeldToken] = []) {
    (self.udid, self.baseToken, held) = (udid, baseToken, apps)
  }

  /// In the order in which they were installed.
  package var apps: [HeldToken] { Array(held.prefix { $0.need.context == nil }) }
  /// Contexts of topics that have tokens of their own.
  package var contexts: [HeldToken] { Array(held.drop { $0.need.context == nil }) }

  /// Installed apps at most, as a count: the filter that names them all has to fit one frame.
  package static let maximumApps = 1000
  /// Most contexts that are remembered, as a count.
  static let maximumContexts = 1000

  /// Installs those apps that it has not, while there are not too many.
  package mutating func add(_ topics: [Topic]) {
    for topic in topics { _ = add(topic) }
  }

  /// False if it is there already, or there are too many.
  mutating func add(_ topic: Topic) -> Bool {
    let (need, count) = (TokenNeed(topic), held.firstIndex { $0.need.context != nil } ?? held.count)
    guard count < Self.maximumApps, !held.contains(where: { $0.need == need }) else { return false }
    held.insert(HeldToken(need), at: count)
    return true
  }

  // MARK: What is asked of the service

  /// Whose token a message was sent to; nil where there is no such app.
  func need(of message: CourierMessage) -> TokenNeed? {
    let entries = held.filter { $0.hash == message.topic }
    let entry =
      entries.first { $0.need.context != nil && $0.token == message.token }
      ?? entries.first { $0.need.context == nil }
    return entry?.need
  }

  /// The topics of all that have a token, each once.
  var topicsWithTokens: [TopicHash] {
    var topics: [TopicHash] = []
    for entry in held where entry.token != nil && !entry.isOver {
      // Each app has a topic of its own.
      if entry.need.context == nil || !topics.contains(entry.hash) { topics.append(entry.hash) }
    }
    return topics
  }

  /// Asks for those tokens, or for their end.
  func requests(where isWanted: (HeldToken) -> Bool = { _ in true }) -> [AppTokenRequest] {
    held.filter(isWanted).map { entry in
      AppTokenRequest(
        baseToken: baseToken, topic: entry.hash, topicName: entry.topic,
        heldToken: entry.isOver ? nil : entry.token, context: entry.need.context, isOver: entry.isOver)
    }
  }

  /// What a request was for; nil if things have changed since, and what counts now was asked for too.
  func index(of request: AppTokenRequest) -> Int? {
    held.firstIndex {
      $0.hash == request.topic && $0.isOver == request.isOver
        && request.context == ($0.need.context.map(AppTokenRequest.Context.named) ?? .absent)
    }
  }

  /// The phone wants tokens for these contexts and no others; answers what to ask.
  mutating func want(_ needs: [TokenNeed]) -> [AppTokenRequest] {
    var changed: [TokenNeed] = []
    let first = apps.count
    for index in held.indices.dropFirst(first) where held[index].isOver == needs.contains(held[index].need) {
      held[index].isOver.toggle()
      changed.append(held[index].need)
    }
    for need in needs where !held.contains(where: { $0.need == need }) {
      guard held.count - first < Self.maximumContexts else { break }
      held.append(HeldToken(need))
      changed.append(need)
    }
    return requests { changed.contains($0.need) }
  }

  // MARK: Apps come and go

  /// The app is gone, and with it what was made for it.
  mutating func remove(_ app: Topic) { held.removeAll { $0.topic.belongs(toApp: app) } }

  /// The app is new, or all are: what is asked for again gets other tokens, the rest is no more.
  mutating func renew(_ app: Topic? = nil) {
    func isNew(_ entry: HeldToken) -> Bool { app.map(entry.topic.belongs(toApp:)) ?? true }
    held.removeAll { isNew($0) && ($0.isOver || $0.need.context?.isAskedForAgain == false) }
    for index in held.indices where isNew(held[index]) { held[index].token = nil }
  }
}

extension DeviceState: JSONDocument {
  /// A remembered state that cannot be used.
  package struct UnreadableError: Error, CustomStringConvertible {
    package let description: String
  }

  private static let app = JSONKind<HeldToken>("an object", ["type": "object"]) { value, place in
    let object = try JSONObject(value, place: place).droppingNull("token")
    return HeldToken(
      TokenNeed(try object.required("topic", .topic)), token: try object.value("token", .token))
  } write: {
    ["topic": .string($0.topic.name), "token": .optional($0.token?.hex)]
  }

  private static let context = JSONKind<HeldToken>("an object", ["type": "object"]) { value, place in
    let object = try JSONObject(value, place: place).droppingNull("token")
    return HeldToken(
      TokenNeed(try object.required("topic", .topic), try object.required("context", .tokenContext)),
      token: try object.value("token", .token), isOver: try object.value("isOver", .flag) ?? false)
  } write: {
    [
      "topic": .string($0.topic.name), "context": .optional($0.need.context?.text),
      "token": .optional($0.token?.hex), "isOver": .bool($0.isOver),
    ]
  }

  package static let form = JSONForm<DeviceState>([
    JSONField("udid", .udid, \.udid).needed, JSONField(nullable: "baseToken", .token, \.baseToken),
    JSONField(
      "apps", .list(of: app, "objects"), get: { $0.apps }, set: { $0.held.insert(contentsOf: $1, at: 0) }
    ).needed,
    JSONField(
      "contexts", .list(of: context, "objects"), get: { $0.contexts.isEmpty ? nil : $0.contexts },
      set: { $0.held += $1 }),
  ])

  /// The state as a JSON object.
  package var json: JSONValue { document }

  /// Reads what `json` wrote, here or in a later version, whose further members are passed over. The file belongs to the
  /// user, so everything else in it is checked.
  package init(json bytes: [UInt8]) throws(UnreadableError) {
    do {
      let written = try JSONObject(body: bytes).members
      let object = JSONObject(members: written.filter { Self.form.names.contains($0.0) })
      self.init(udid: try object.required("udid", .udid))
      try Self.form.read(object, into: &self)
    } catch {
      throw UnreadableError(description: "this is not the state of a device: \(error)")
    }
  }
}
