import PushModel

/// What a person did to an app, or to the whole phone: the console tells the simulated device with this private
/// command (`CourierItem`).
public struct AppStateChange: CourierCommandValue {
  public static let command = CourierCommand.appState

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

  public init(_ frame: CourierFrame) throws(CourierProtocolError) {
    var action: Action?
    var items = frame.items
    while let item = try items.next() {
      switch CourierItem.AppState(rawValue: item.id) {
      case .topic: topic = try item.requireTopicHash()
      case .action: action = Action(rawValue: try item.requireInteger())
      case .topicName: topicName = Topic(item.text)
      case nil: continue
      }
    }
    self.action = try Self.require(action, CourierItem.AppState.action)
  }

  public func encoded(after output: consuming [UInt8]) -> [UInt8] {
    typealias Item = CourierItem.AppState
    var writer = CourierFrameWriter(Self.command, after: output)
    writer.item(Item.topic, topic)
    writer.item(Item.action, action.rawValue)
    writer.item(Item.topicName, topicName?.name)
    return writer.finish()
  }
}
