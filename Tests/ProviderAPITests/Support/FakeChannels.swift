import ProviderAPI
import PushModel

/// Channels in memory.
final class FakeChannels: ChannelDirectory {
  static let unstored = ChannelID("AAAAAAAAAAAAAAAAAAAAAA==")
  static let stored = ChannelID("AQEBAQEBAQEBAQEBAQEBAQ==")

  var disabled: Set<Topic> = []
  var limit = 3
  private(set) var storages: [ChannelID: ChannelStorage] = [:]
  private var made: UInt8 = 0

  init() {
    if let unstored = Self.unstored { storages[unstored] = ChannelStorage.none }
    if let stored = Self.stored { storages[stored] = .newest }
  }

  func isBroadcastEnabled(_ bundle: Topic, _ environment: Environment) -> Bool { !disabled.contains(bundle) }

  /// Of whom the last channel was asked for.
  private(set) var team: String?
  var full = ChannelsFull.ofBundle(limit: 3)

  func createChannel(
    _ bundle: Topic, _ environment: Environment, storage: ChannelStorage, team: String?
  ) throws(ChannelsFull) -> ChannelID {
    self.team = team
    guard storages.count < limit, let id = ChannelID("made") else { throw full }
    storages[id] = storage
    return id
  }

  func storage(of channel: ChannelID, _ bundle: Topic, _ environment: Environment) -> ChannelStorage? {
    bundle.name == "com.example.app" && environment == .sandbox ? storages[channel] : nil
  }

  func deleteChannel(_ channel: ChannelID, _ bundle: Topic, _ environment: Environment) -> Bool {
    storages.removeValue(forKey: channel) != nil
  }

  var flooded: ChannelID?

  func isFlooded(_ channel: ChannelID, _ bundle: Topic, _ environment: Environment) -> Bool {
    channel == flooded
  }

  func channels(_ bundle: Topic, _ environment: Environment) -> [ChannelID] {
    storages.keys.sorted { $0.text < $1.text }
  }

  func handler(_ identity: ProviderIdentity = .token(FakeTokens())) -> ChannelRequestHandler {
    ChannelRequestHandler(
      identity: identity, environment: .sandbox, directory: self, apnsIDs: APNSIDGenerator(seed: 7))
  }

  func broadcastCheck(_ identity: ProviderIdentity = .token(FakeTokens())) -> BroadcastCheck {
    BroadcastCheck(
      identity: identity, environment: .sandbox, directory: self, apnsIDs: APNSIDGenerator(seed: 7))
  }
}
