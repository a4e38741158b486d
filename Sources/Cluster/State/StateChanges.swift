import Broker
import PushModel
import Zones

/// What a turn has changed in the zones that this node leads, zone by zone, as their logs will tell it.
package final class StateChanges {
  private let map: ZoneMap
  private let broker: Broker
  private var writers: [ZoneNumber: StateWriter] = [:]

  package init(_ map: ZoneMap, _ broker: Broker) { (self.map, self.broker) = (map, broker) }

  /// In the order of the zones; those in which nothing has changed are left out.
  package var byZone: [(zone: ZoneNumber, bytes: [UInt8])] {
    writers.sorted { $0.key < $1.key }.map { ($0.key, $0.value.bytes) }
  }

  private func tell(_ zone: ZoneNumber, _ write: (inout StateWriter) -> Void) {
    guard broker.zones.leads(UInt16(zone.number)) else { return }
    write(&writers[zone, default: StateWriter()])
  }

  private func tell(_ zone: UInt16, _ write: (inout StateWriter) -> Void) {
    tell(ZoneNumber(Int(zone)), write)
  }

  package func add(_ changes: BrokerChanges) {
    let registry = broker.registry
    // Names that nothing is of concern nobody: what is of a topic later tells its name.
    for id in changes.topics.once where registry.isUsed(id) { add(registry[id]) }
    for id in changes.devices.once {
      tell(registry[id].zone) { StateEntry.write(registry[id], to: &$0) }
    }
    for id in changes.registrations.once {
      tell(registry[id].zone) { StateEntry.write(id, of: registry, to: &$0) }
    }
    for id in changes.notifications {
      tell(registry[id].zone) { StateEntry.writeNotification(id, of: broker, to: &$0) }
    }
    for key in changes.deletedChannels { tellNoChannel(key) }
    for row in changes.channels.once { tellChannel(row) }
    for (row, broadcast) in changes.broadcasts { tell(broadcast, row) }
    for subscription in changes.subscriptions.once { tell(subscription) }
  }

  /// The next part of a zone's state, looking at so many rows.
  static func part(
    of zone: ZoneNumber, _ map: ZoneMap, _ broker: Broker, _ cursor: inout ZoneCursor, rows: Int
  ) -> [UInt8] {
    let changes = StateChanges(map, broker)
    changes.add(zone, &cursor, rows: rows)
    return changes.byZone.first?.bytes ?? []
  }

  private func add(_ zone: ZoneNumber, _ cursor: inout ZoneCursor, rows: Int) {
    let (registry, number) = (broker.registry, UInt16(zone.number))
    switch cursor.stage {
    case .channels:
      for row in broker.channels.rowNumbers where broker.channels.key(row).map({ self.zone(of: $0) }) == zone
      {
        tellChannel(row)
      }
      cursor.stage = .devices(0)
    case .devices(let start):
      let end = min(start + rows, registry.deviceCount)
      for index in start..<max(start, end) where registry[DeviceID(index)].zone == number {
        add(DeviceID(index), zone)
      }
      cursor.stage = end == registry.deviceCount ? .end : .devices(end)
    case .end: break
    }
  }

  private func add(_ device: DeviceID, _ zone: ZoneNumber) {
    let registry = broker.registry
    tell(zone) { StateEntry.write(registry[device], to: &$0) }
    for row in registry.registrations(of: device).reversed() {
      tell(zone) { StateEntry.write(row, of: registry, to: &$0) }
      if broker.deliveries.stored(row) != nil {
        tell(zone) { StateEntry.writeNotification(row, of: broker, to: &$0) }
      }
    }
    for row in broker.channels.rows(of: device) { tell(StoredSubscription(device: device, channel: row)) }
  }

  // MARK: Channels

  private func zone(of key: ChannelTable.Key) -> ZoneNumber { map.zone(ofChannel: key.id) }

  private func tellNoChannel(_ key: ChannelTable.Key) {
    tell(zone(of: key)) { StateEntry.write(key, of: broker.registry, as: .noChannel, to: &$0) }
  }

  private func tellChannel(_ row: Int64) {
    guard let channel = broker.channels.stored(row) else { return }
    tell(zone(of: channel.key)) {
      StateEntry.write(channel.key, of: broker.registry, as: .channel, to: &$0)
      $0.write(channel.storesNewest)
      $0.write(channel.newest != nil)
      if let newest = channel.newest { $0.write(newest, ChannelTable.Broadcast.form) }
    }
  }

  private func tell(_ broadcast: ChannelTable.Broadcast, _ row: Int64) {
    guard let key = broker.channels.key(row) else { return }
    tell(zone(of: key)) {
      StateEntry.write(key, of: broker.registry, as: .broadcast, to: &$0)
      $0.write(broadcast, ChannelTable.Broadcast.form)
    }
  }

  /// Belongs to its device. One of a channel that is no more went with that.
  private func tell(_ subscription: StoredSubscription) {
    guard let key = broker.channels.key(subscription.channel), broker.registry.contains(subscription.device)
    else {
      return
    }
    let (device, seenUntil) = (broker.registry[subscription.device], broker.channels.stored(subscription))
    tell(device.zone) {
      StateEntry.write(
        key, of: broker.registry, as: seenUntil == nil ? .noSubscription : .subscription, to: &$0)
      $0.write(device.udid.text)
      if let seenUntil { $0.write(seenUntil) }
    }
  }

  /// A name belongs to no zone: the first of ours tells it.
  private func add(_ topic: TopicEntry) {
    guard let name = topic.name, let first = map.zones.first(where: { broker.zones.leads(UInt16($0.number)) })
    else {
      return
    }
    tell(first) { StateEntry.write(name, to: &$0) }
  }
}

/// How far a snapshot of a zone has come. Channels first: subscriptions are to them.
package struct ZoneCursor {
  fileprivate enum Stage: Equatable { case channels, devices(Int), end }

  fileprivate var stage = Stage.channels

  package var isAtEnd: Bool { stage == .end }
}
