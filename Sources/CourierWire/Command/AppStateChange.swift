import PushModel

/// What a person did to an app, or to the whole phone: the console tells the simulated device with this private
/// command (`CourierItem`).
public struct AppStateChange: CourierFormed {
  public static let command = CourierCommand.appState
  public static let form = CourierForm<AppStateChange>([
    CourierField(1, .topicHash, \.topic), CourierField(2, .action, \.action),
    CourierField(3, .topicName, \.topicName),
  ])

  /// What happened.
  @frozen
  public enum Action: UInt8, Sendable, CaseIterable {
    case removed = 1
    case installed = 2
    /// Removed and installed again: the old token is gone.
    case reinstalled = 3
    /// A new version: the token stays.
    case updated = 4
    /// The whole device: its identity is gone, and every app with its tokens.
    case erased = 5
    /// The whole device is another one with the same apps, as from a backup: its identity and every token are gone.
    case restored = 6

    /// Whether it is about the device, and not about one of its apps.
    public var isOfDevice: Bool { self == .erased || self == .restored }

    public var name: String { String(describing: self) }
  }

  public var action: Action
  /// Nil when the whole device is meant.
  public var topic: TopicHash?
  /// Tells a device of an app that it did not have.
  public var topicName: Topic?

  public init(_ action: Action, topic: TopicHash? = nil, topicName: Topic? = nil) {
    self.action = action
    self.topic = topic
    self.topicName = topicName
  }

  public init() { self.init(.removed) }
}

extension CourierKind where Value == AppStateChange.Action {
  fileprivate static var action: Self {
    Self(
      read: { (item) throws(CourierProtocolError) in Value(rawValue: try item.requireInteger()) },
      write: { [$0.rawValue] })
  }
}
