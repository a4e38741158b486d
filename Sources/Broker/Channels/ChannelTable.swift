import PushModel

/// The broadcast channels of all apps, and who listens to them now (`spec/provider-protocol.md` F, `spec/device-courier.md` 8).
///
/// A channel that stores keeps its newest broadcast itself; a device says with each subscription how far it got, so nothing
/// is remembered of devices that are away.
public struct ChannelTable {
  /// Names a channel: an id means something only for its app and environment.
  public struct Key: Hashable {
    public var topic: Int32
    public var environment: Environment
    public var id: [UInt8]

    public init(topic: Int32, environment: Environment, id: [UInt8]) {
      (self.topic, self.environment, self.id) = (topic, environment, id)
    }
  }

  /// A broadcast as devices get it.
  public struct Broadcast {
    public var id: UInt64
    public var payload: [UInt8]
    public var priority: Priority
    public var sentAt: Timestamp
    public var expiresAt: Timestamp
    /// As the device is told, UNIX seconds.
    public var expiry: UInt32
  }

  struct Channel {
    var storesNewest: Bool
    var newest: Broadcast?
    var listeners: [DeviceSession] = []
  }

  /// Most channels that one session may listen to, as a count.
  static let channelsPerSession = 1000

  var channels: [Key: Channel] = [:]

  /// Number of channels of an app in an environment.
  public func count(_ topic: Int32, _ environment: Environment) -> Int {
    channels.keys.count { $0.topic == topic && $0.environment == environment }
  }

  /// Every channel, in a stable order.
  public var keys: [Key] {
    channels.keys.sorted { left, right in
      (left.topic, left.environment.rawValue) == (right.topic, right.environment.rawValue)
        ? left.id.lexicographicallyPrecedes(right.id)
        : (left.topic, left.environment.rawValue) < (right.topic, right.environment.rawValue)
    }
  }

  /// How many sessions listen to a channel now.
  public func listenerCount(_ key: Key) -> Int { channels[key]?.listeners.count ?? 0 }

  /// The broadcast that a channel keeps.
  public func newest(_ key: Key) -> Broadcast? { channels[key]?.newest }

  /// Ids of the channels of an app in an environment, in a stable order.
  public func ids(_ topic: Int32, _ environment: Environment) -> [[UInt8]] {
    channels.keys.filter { $0.topic == topic && $0.environment == environment }.map(\.id)
      .sorted { $0.lexicographicallyPrecedes($1) }
  }

  /// Adds a channel.
  public mutating func create(_ key: Key, storesNewest: Bool) {
    channels[key] = Channel(storesNewest: storesNewest)
  }

  /// Whether a channel keeps its newest broadcast; nil if there is no such channel.
  public func storesNewest(_ key: Key) -> Bool? { channels[key]?.storesNewest }

  /// Removes a channel for good; false if there is no such channel.
  public mutating func delete(_ key: Key) -> Bool { channels.removeValue(forKey: key) != nil }
}
