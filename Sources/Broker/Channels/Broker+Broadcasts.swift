import PushModel

/// Broadcasts go to those who listen in parts, some each turn.
extension Broker {
  /// Whether a broadcast of the history has not come to all who listened when it was accepted; `onBroadcastThrough` tells when
  /// it has.
  public func isUnderWay(broadcast id: UInt64) -> Bool { broadcasts.isUnderWay(id) }

  /// To be called once a turn, before it is committed. `hasTime` is asked before each share. Answers whether more is under way, or
  /// listeners of deleted channels are left, so that another turn is wanted.
  public func deliverBroadcasts(hasTime: () -> Bool = { true }) -> Bool {
    let hasDepartures = channels.goOnWithDepartures()
    broadcasts.beginTurn()
    goOnWithBroadcasts(hasTime)
    guard !broadcasts.isEmpty else { return hasDepartures }
    broadcasts.endTurn()
    return true
  }

  /// A broadcast is for everybody who listens now; what this turn has room for goes out at once.
  func begin(
    _ broadcast: ChannelTable.Broadcast, in row: Int64, isRepeated: Bool = false, isRecorded: Bool = true
  ) {
    broadcasts.add(broadcast, in: row, isRepeated: isRepeated, isRecorded: isRecorded)
    // Nobody waits for what nobody listens to.
    if channels.channels[row]?.listeners.end == 0, broadcasts.underWay(row).count == 1 { return end(row) }
    goOnWithBroadcasts()
  }

  private func goOnWithBroadcasts(_ hasTime: () -> Bool = { true }) {
    while broadcasts.mayGoOn, hasTime(), let (row, delivery) = broadcasts.first() {
      giveShare(to: row, delivery)
    }
  }

  private func giveShare(to row: Int64, _ delivery: BroadcastQueue.Delivery) {
    let share = broadcasts.nextShare
    var place = delivery.next
    while place - delivery.next < share, let channel = channels.channels[row], place < channel.listeners.end {
      look(at: channel.listeners[place], channel.key, row, delivery)
      place += 1
    }
    if place >= channels.channels[row]?.listeners.end ?? 0 { end(row) } else { broadcasts.endShare(row) }
  }

  private func look(
    at session: DeviceSession?, _ key: ChannelTable.Key, _ row: Int64, _ delivery: BroadcastQueue.Delivery
  ) {
    guard let session, let membership = session.joined[row], membership.joinedAt <= delivery.number else {
      return broadcasts.advance(row, isListener: false)
    }
    // Before it is handed over, which may end the session.
    broadcasts.advance(row, isListener: true)
    guard !delivery.isRepeated || delivery.broadcast.sentAt > membership.reached else { return }
    send(delivery.broadcast, key, row, to: session)
  }

  /// All who listen have the first broadcast of a channel, or the channel has gone.
  private func end(_ row: Int64) {
    guard let ended = broadcasts.endFirst(row), ended.isRecorded else { return }
    let broadcast = ended.broadcast
    let isStored = channels.channels[row]?.storesNewest == true
    history.endBroadcast(broadcast.id, count: ended.count, isStored: isStored, now: broadcast.sentAt)
    onBroadcastThrough?(broadcast.id)
  }

  /// Whether something is under way to a session that listens to a channel: what the channel keeps comes with it.
  func isUnderWay(_ row: Int64, to membership: ChannelMembership) -> Bool {
    !broadcasts.isEmpty && broadcasts.newest(row)?.isAhead(of: membership) == true
  }

  /// How far a session got whose connection ends: what has not come to it is new for the next one, whatever the clock says.
  func reached(_ row: Int64, _ membership: ChannelMembership) -> Timestamp {
    guard !broadcasts.isEmpty,
      let first = broadcasts.underWay(row).first(where: { !$0.isRepeated && $0.isAhead(of: membership) })
    else { return membership.reached }
    return min(membership.reached, first.broadcast.sentAt.adding(nanoseconds: -1))
  }
}
