import PushModel

/// What happens to broadcasts for devices that are away (`Documentation/provider-api.md#channel-management`). Can't be
/// changed later.
public enum ChannelStorage: Int, Sendable, CaseIterable {
  case none = 0
  /// The newest is kept, for at most eight hours.
  case newest = 1
}

/// The channels there are. Channels belong to a bundle id in one environment. Implemented over the broker.
public protocol ChannelDirectory: AnyObject {
  /// Whether the bundle id has the broadcast capability.
  func isBroadcastEnabled(_ bundle: Topic, _ environment: Environment) -> Bool
  /// Makes a channel; nil when the bundle id has as many as are allowed (`ChannelLimits.channels`).
  func createChannel(_ bundle: Topic, _ environment: Environment, storage: ChannelStorage) -> ChannelID?
  /// The storage policy of a channel; nil if there is no such channel.
  func storage(of channel: ChannelID, _ bundle: Topic, _ environment: Environment) -> ChannelStorage?
  /// Removes a channel for good; false if there is no such channel.
  func deleteChannel(_ channel: ChannelID, _ bundle: Topic, _ environment: Environment) -> Bool
  /// Whether this broadcast would be one too many in a row for its channel
  /// (`Documentation/provider-api.md#channel-reasons` `TooManyRequests`). Called only for requests that pass everything
  /// else.
  func isFlooded(_ channel: ChannelID, _ bundle: Topic, _ environment: Environment) -> Bool
  /// All channels of a bundle id.
  func channels(_ bundle: Topic, _ environment: Environment) -> [ChannelID]
}

/// Limits on channels (`Documentation/provider-api.md#channel-management`).
public enum ChannelLimits {
  /// Channels of one bundle id in one environment.
  public static let channels = 10_000
  /// How long a stored broadcast is kept, in seconds.
  public static let storageSeconds: Int64 = 8 * 3600
}
