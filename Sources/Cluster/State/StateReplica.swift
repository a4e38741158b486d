import Basics
import Broker
import PushModel
import Zones

/// Brings a broker's copy of a zone up to date with what its log says.
package final class StateReplica {
  /// Most subscriptions that wait for their channel, as a count: its log may be read later than the device's.
  private static let pendingLimit = 10_000

  private let broker: Broker
  /// Entries that had no place, as a count: there are too many rows, or the log tells of what this copy does not know.
  package private(set) var misfits = 0
  private var pending: [StateEntry.ChannelName: [UDID: Timestamp]] = [:]
  private var pendingCount = 0

  package init(_ broker: Broker) { self.broker = broker }

  /// Applies the changes of one record. `startOver` is called where the log says that everything was forgotten; while `skips`, and
  /// from there on while it answers true, what is told of devices is of the time before and passed over.
  package func apply(
    _ changes: [UInt8], now: Timestamp, skips: Bool = false, startOver: (UInt64) -> Bool
  ) throws(StateCursor.Damage) {
    var cursor = StateCursor(changes.span)
    var skips = skips
    while !cursor.isAtEnd {
      let number = try cursor.integer(UInt8.self)
      let kind = try cursor.require(
        StateEntry.Kind(rawValue: number),
        "a kind of change that this version of apns-emulator knows, not \(number)")
      if kind == .startsOver {
        skips = startOver(try cursor.row(StateEntry.startsOver, 0))
      } else {
        try apply(kind, &cursor, now, skips: skips)
      }
    }
  }

  /// What waited is of no use any more.
  func forgetPending() { (pending, pendingCount) = ([:], 0) }

  private func apply(
    _ kind: StateEntry.Kind, _ cursor: inout StateCursor, _ now: Timestamp, skips: Bool
  ) throws(StateCursor.Damage) {
    if let form = StateEntry.Token.forms[kind] {
      let token = try cursor.row(form, .blank)
      return skips ? () : note(admit(token, now))
    }
    switch kind {
    case .startsOver, .registration: break
    case .topic:
      let topic = try cursor.require(Topic(try cursor.text()), "a topic")
      note(broker.registry.topic(named: topic) != nil)
    case .device:
      let device = try cursor.row(DeviceRow.form, .blank)
      if !skips { note(broker.rows.admit(device, now: now) != nil) }
    case .message: try applyMessage(&cursor, skips: skips)
    case .noMessage:
      let token = try cursor.token()
      if !skips { note(broker.deliveries.replicate(nil, for: token)) }
    default: try applyChannel(kind, &cursor, now, skips: skips)
    }
  }

  /// False when there are too many, or its device is not known.
  private func admit(_ token: StateEntry.Token, _ now: Timestamp) -> Bool {
    guard let device = broker.registry.knownDevice(token.udid), let topic = broker.registry.topic(token.topic)
    else { return false }
    return broker.rows.admit(token.row, of: device, topic, because: .replicated, now: now) != nil
  }

  private func applyMessage(_ cursor: inout StateCursor, skips: Bool) throws(StateCursor.Damage) {
    let (token, head) = (try cursor.token(), try cursor.row(NotificationHead.form, .blank))
    let (collapseId, payload) = (try cursor.counted(), try cursor.counted())
    guard !skips else { return }
    let content = NotificationContent(payload, collapseId: collapseId)
    note(broker.deliveries.replicate((head, content), for: token))
  }

  /// Channels outlive a new beginning; who listens to them does not.
  private func applyChannel(
    _ kind: StateEntry.Kind, _ cursor: inout StateCursor, _ now: Timestamp, skips: Bool
  ) throws(StateCursor.Damage) {
    let name = try cursor.row(StateEntry.ChannelName.form, .blank)
    let topic = broker.registry.topic(name.topic)
    let key = topic.map { ChannelTable.Key(topic: $0, environment: name.environment, id: name.id) }
    switch kind {
    case .channel:
      let (stores, hasNewest) = (try cursor.flag(), try cursor.flag())
      let newest = hasNewest ? try cursor.row(ChannelTable.Broadcast.form, .blank) : nil
      guard let key else { return note(false) }
      let told = StoredChannel(row: 0, key: key, storesNewest: stores, newest: newest)
      note(broker.broadcasts.admit(told, because: .replicated, now: now))
      applyPending(name, key)
    case .noChannel: if let key { _ = broker.channels.delete(key) }
    case .broadcast:
      let broadcast = try cursor.row(ChannelTable.Broadcast.form, .blank)
      if let key { broker.broadcasts.replicateBroadcast(broadcast, to: key) }
    default:
      let udid = try cursor.require(UDID(try cursor.text()), "a UDID")
      let seenUntil = kind == .subscription ? try cursor.time() : nil
      guard !skips, let key else { return }
      if !broker.broadcasts.replicateSubscription(udid, key, seenUntil: seenUntil) {
        wait(udid, name, seenUntil)
      }
    }
  }

  // MARK: Subscriptions whose channel is not known yet

  private func wait(_ udid: UDID, _ name: StateEntry.ChannelName, _ seenUntil: Timestamp?) {
    if pending[name]?.removeValue(forKey: udid) != nil { pendingCount -= 1 }
    guard let seenUntil else { return }
    guard pendingCount < Self.pendingLimit else { return note(false) }
    pending[name, default: [:]][udid] = seenUntil
    pendingCount += 1
  }

  private func applyPending(_ name: StateEntry.ChannelName, _ key: ChannelTable.Key) {
    guard let waiting = pending.removeValue(forKey: name) else { return }
    pendingCount -= waiting.count
    for (udid, seenUntil) in waiting {
      note(broker.broadcasts.replicateSubscription(udid, key, seenUntil: seenUntil))
    }
  }

  private func note(_ fits: Bool) {
    if !fits { misfits += 1 }
  }
}

extension ZoneShare {
  /// The zones of a map, none of which is changed here yet.
  package convenience init(_ map: ZoneMap) {
    self.init(
      zones: map.count, ofDevice: { UInt16(map.zone(of: $0).number) },
      ofChannel: { UInt16(map.zone(ofChannel: $0).number) }, stamp: map.stamped)
  }
}
