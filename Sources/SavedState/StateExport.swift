import Basics
import Broker
import Console
import ConsoleAnswers
import PushModel

/// Writes down what an emulator knows, over as many turns of the loop as that takes.
///
/// Each device is written as it is when its turn comes, and the lists behind fit what was written: they name no device
/// that came later, and of the feedback entries those of rows that were written as gone. If every device is reset
/// meanwhile, the document is void.
struct StateExport {
  let live: LiveState
  private var broker: Broker { live.broker }
  private var registry: Registry { live.broker.registry }

  /// Throws when it is too much for one document.
  func document() throws -> GrowingDocument {
    guard registry.registrationCount <= SavedState.rowLimit, registry.deviceCount <= SavedState.rowLimit,
      registry.topicCount <= SavedState.rowLimit, broker.channels.subscriptionCount <= SavedState.rowLimit
    else {
      throw ConsoleError.conflict(
        "there are more than \(SavedState.rowLimit) tokens, devices, topics or subscriptions; copy the data folder instead"
      )
    }
    let (areThere, written) = (registry.holdsRows, WrittenRows(deviceCount: registry.deviceCount))
    let keys = live.credentials.keys().filter { !$0.isRevoked }.map(\.key)
      .sorted { $0.keyId < $1.keyId }
    let members: [GrowingDocument.Member] = [
      .value("version", .integer(SavedState.version)), .value("clock", SavedClock(live.clock).document),
      apps(), .value("keys", .array(keys.map(\.document))), devices(written), channels(written),
      feedback(written), .late { [("faults", .array(live.faults.rules.map(\.document)))] },
    ]
    return GrowingDocument(isVoid: { !areThere() }, members)
  }

  /// Every topic with a name, and every certificate.
  private func apps() -> GrowingDocument.Member {
    var certificates: [Topic: SavedCertificate] = [:]
    for issued in live.credentials.certificates() where !issued.isRevoked {
      certificates[issued.certificate.topic] = issued.certificate
    }
    let topics = Set(registry.topicNames).union(certificates.keys)
    return .sorted("apps", Array(topics), by: { $0.name < $1.name }) {
      .value(SavedApp(topic: $0, certificate: certificates[$0]).document)
    }
  }

  private func devices(_ written: WrittenRows) -> GrowingDocument.Member {
    .list("devices", of: DeviceID.rows(below: written.deviceCount)) { id in
      registry.contains(id) ? .object(device(id, written)) : .end
    }
  }

  private func device(_ id: DeviceID, _ written: WrittenRows) -> [GrowingDocument.Member] {
    let head = SavedDevice.form.members(SavedDevice(registry[id]))
    let apps = GrowingDocument.Member.list("apps", of: registry.registrations(of: id).reversed()) { row in
      guard registry.contains(row) else { return .end }
      let registration = registry[row]
      if !registration.isActive { written.gone.insert(row) }
      let message = broker.deliveries.stored(row).map(SavedNotification.init)
      return .value(
        SavedRow(TokenRow(row, of: registry), of: registry[registration.topic], message: message).document)
    }
    return .values(head) + [apps]
  }

  /// Not by the index of the topic, which another emulator may have in another order.
  private func channels(_ written: WrittenRows) -> GrowingDocument.Member {
    let channels = broker.channels.rowNumbers.compactMap { row in
      broker.channels.key(row).flatMap { key in registry[key.topic].name.map { (key, $0) } }
    }
    return .sorted("channels", channels, by: Self.precedes) { key, topic in
      .object(channel(key, topic, written))
    }
  }

  private static func precedes(
    _ left: (ChannelTable.Key, Topic), _ right: (ChannelTable.Key, Topic)
  ) -> Bool {
    let (leftApp, rightApp) = (
      (left.1.name, left.0.environment.rawValue), (right.1.name, right.0.environment.rawValue)
    )
    return leftApp == rightApp ? left.0.id.lexicographicallyPrecedes(right.0.id) : leftApp < rightApp
  }

  private func channel(_ key: ChannelTable.Key, _ topic: Topic, _ written: WrittenRows)
    -> [GrowingDocument.Member]
  {
    var channel = SavedChannel(
      topic: topic, environment: key.environment, id: key.id,
      storesNewest: broker.channels.storesNewest(key) ?? false)
    channel.message = broker.channels.newest(key).map(SavedNotification.init)
    let head: [GrowingDocument.Member] = .values(SavedChannel.form.members(channel))
    let devices = broker.broadcasts.subscribers(key).filter { $0.index < written.deviceCount }
    guard !devices.isEmpty else { return head }
    let (registry, broker) = (registry, broker)
    let udid = { (device: DeviceID) in registry[device].udid }
    return head + [
      .sorted("subscribers", devices, by: { udid($0).text < udid($1).text }) { device in
        guard let seenUntil = broker.broadcasts.seenUntil(device, key) else { return .nothing }
        return .value(SavedSubscriber(udid: udid(device), seenUntil: seenUntil).document)
      }
    ]
  }

  private func feedback(_ written: WrittenRows) -> GrowingDocument.Member {
    var rows: IndexingIterator<[RegistrationID]>?
    return .list("feedback") { _ in
      if rows == nil { rows = broker.feedback.rows.makeIterator() }
      guard let row = rows?.next() else { return .end }
      return written.gone.contains(row) ? .value(.string(registry.text(of: row))) : .nothing
    }
  }
}

/// What an export has written, for the lists that refer to it.
private final class WrittenRows {
  /// How many devices there were at its beginning.
  let deviceCount: Int
  /// Rows that were written as gone.
  var gone: Set<RegistrationID> = []

  init(deviceCount: Int) { self.deviceCount = deviceCount }
}
