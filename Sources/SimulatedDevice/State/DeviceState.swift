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

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension DeviceState {
  /// A remembered state that cannot be used.
  public struct UnreadableError: Error, CustomStringConvertible {
    public let description: String
  }

  /// The state as a JSON object.
  public var json: JSONValue {
    [
      "udid": .string(udid.text), "baseToken": .optional(baseToken?.hex),
      "apps": .array(
        apps.map { ["topic": .string($0.topic.name), "token": .optional($0.token?.hex)] }),
    ]
  }

  /// Reads what `json` wrote. The file belongs to the user, so everything in it is checked.
  public init(json bytes: [UInt8]) throws(UnreadableError) {
    guard let document = try? JSONDecoder().decode(Document.self, from: Data(bytes)) else {
      throw UnreadableError(description: "the device's state is not the JSON that was written")
    }
    guard let udid = UDID(document.udid) else {
      throw UnreadableError(description: "the device's state names no device: \"\(document.udid)\"")
    }
    self.init(udid: udid, baseToken: try Self.token(document.baseToken))
    for app in document.apps {
      guard let topic = Topic(app.topic) else {
        throw UnreadableError(description: "the device's state has a bad topic: \"\(app.topic)\"")
      }
      apps.append(App(topic: topic, token: try Self.token(app.token)))
    }
  }

  private static func token(_ hex: String?) throws(UnreadableError) -> DeviceToken? {
    guard let hex else { return nil }
    guard let token = DeviceToken(hex: hex) else {
      throw UnreadableError(description: "the device's state has a bad token: \"\(hex)\"")
    }
    return token
  }

  private struct Document: Decodable {
    struct App: Decodable {
      var topic: String
      var token: String?
    }

    var udid: String
    var baseToken: String?
    var apps: [App]
  }
}
