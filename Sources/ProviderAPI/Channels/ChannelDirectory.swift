import Basics
import PushModel

/// What happens to broadcasts for devices that are offline (`Documentation/provider-api.md#channel-management`). Can't be
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
  /// Makes a channel, for a provider with a team's token or, with nil, with a certificate.
  func createChannel(
    _ bundle: Topic, _ environment: Environment, storage: ChannelStorage, team: String?
  ) throws(ChannelsFull) -> ChannelID
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

/// No channel was made, as there are so many already.
public enum ChannelsFull: Error, Equatable {
  /// Of the bundle id, in its environment.
  case ofBundle(limit: Int)
  /// Of all bundle ids.
  case ofAll(limit: Int)
  /// There are so many topics because of the team's providers that nobody's app has.
  case topicsOfTeam(limit: Int)
  /// There are so many topics in use.
  case topics(limit: Int)

  /// The limit, in words.
  var phrase: Phrase {
    switch self {
    case .ofBundle(let limit): "at most \(limit) channels of a bundle id"
    case .ofAll(let limit): "at most \(limit) channels of all bundle ids"
    case .topicsOfTeam(let limit): "channels of at most \(limit) bundle ids that no device has an app of"
    case .topics(let limit): "at most \(limit) topics in use"
    }
  }
}

/// Limits on channels (`Documentation/provider-api.md#channel-management`).
public enum ChannelLimits {
  /// Channels of one bundle id in one environment.
  public static let channels = 10_000
  /// How long a stored broadcast is kept, in seconds.
  public static let storageSeconds: Int64 = 8 * 3600
}
