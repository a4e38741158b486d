import Broker
import PushModel

/// Writes down what an emulator knows.
struct StateExport {
  let context: ConsoleContext
  private var broker: Broker { context.broker }
  private var registry: Registry { context.broker.registry }

  /// Throws when it is too much for one document.
  func state() throws -> SavedState {
    guard registry.registrationCount <= SavedState.rowLimit, registry.devices.count <= SavedState.rowLimit,
      registry.topics.count <= SavedState.rowLimit, broker.subscriptionCount <= SavedState.rowLimit
    else {
      throw ConsoleError.conflict(
        "there are more than \(SavedState.rowLimit) tokens, devices, topics or subscriptions; copy the data folder instead"
      )
    }
    var state = SavedState()
    state.clock = context.clock.map { SavedClock($0) }
    state.apps = apps()
    state.keys = (context.credentials?.keys() ?? []).sorted { $0.keyId < $1.keyId }
    state.devices = registry.devices.indices.map { device(Int32($0)) }
    state.channels = channels()
    state.feedback = broker.allFeedback.map { registry[registration: $0].token }
    state.faults = context.faults?.rules ?? []
    return state
  }

  /// Every topic with a name, and every certificate.
  private func apps() -> [SavedApp] {
    var certificates: [Topic: SavedCertificate] = [:]
    for certificate in context.credentials?.certificates() ?? [] {
      certificates[certificate.topic] = certificate
    }
    let topics = Set(registry.topics.compactMap(\.name)).union(certificates.keys)
    return topics.sorted { $0.name < $1.name }.map { SavedApp(topic: $0, certificate: certificates[$0]) }
  }

  private func device(_ index: Int32) -> SavedDevice {
    let rows = registry.registrations(of: index).reversed().map { row in
      SavedRow(
        registry[registration: row], app: app(registry[registration: row].topic),
        message: broker.keptMessage(row).map(SavedMessage.init))
    }
    return SavedDevice(registry.devices[Int(index)], rows: rows)
  }

  private func app(_ topic: Int32) -> SavedRow.App {
    let entry = registry.topics[Int(topic)]
    return entry.name.map(SavedRow.App.named) ?? .hashed(entry.hash)
  }

  private func channels() -> [SavedChannel] {
    let channels = broker.channels.keys.compactMap { key in
      registry.topics[Int(key.topic)].name.map { topic in
        channel(key, topic)
      }
    }
    // Not by the index of the topic, which another emulator may have in another order.
    return channels.sorted { left, right in
      (left.topic.name, left.environment.rawValue) == (right.topic.name, right.environment.rawValue)
        ? left.id.lexicographicallyPrecedes(right.id)
        : (left.topic.name, left.environment.rawValue) < (right.topic.name, right.environment.rawValue)
    }
  }

  private func channel(_ key: ChannelTable.Key, _ topic: Topic) -> SavedChannel {
    var channel = SavedChannel(
      topic: topic, environment: key.environment, id: key.id,
      storesNewest: broker.channels.storesNewest(key) ?? false)
    channel.message = broker.channels.newest(key).map(SavedMessage.init)
    channel.subscribers = broker.subscribers(key).map { device, seenUntil in
      SavedSubscriber(udid: registry.devices[Int(device)].udid, seenUntil: seenUntil)
    }
    channel.subscribers.sort { $0.udid.text < $1.udid.text }
    return channel
  }
}
