import PushModel

/// Channels and subscriptions that another process changes: this broker's copy follows its log.
extension Broker {
  /// A channel as it is now. Devices that are connected here and have not seen what it keeps get that.
  public func replicateChannel(
    _ key: ChannelTable.Key, storesNewest: Bool, newest: ChannelTable.Broadcast?, now: Timestamp
  ) -> Bool {
    guard let row = channels.replicate(key, storesNewest: storesNewest, newest: newest) else { return false }
    guard let newest, newest.expiresAt > now else { return true }
    // Nobody gets one twice on a connection.
    begin(newest, in: row, isRepeated: true, isRecorded: false)
    return true
  }

  /// Rows of the channels that a device listens to.
  public func channelRows(of device: DeviceID) -> [Int64] {
    (channels.subscriptions[device] ?? [:]).keys.sorted()
  }

  /// A channel is no more.
  public func replicateNoChannel(_ key: ChannelTable.Key) { _ = channels.delete(key) }

  /// A broadcast went out: those who listen here get it. Whether the channel keeps it is told with the channel.
  public func replicateBroadcast(_ broadcast: ChannelTable.Broadcast, to key: ChannelTable.Key) {
    // It may have come by this process, whose history has it then.
    if let row = channels.row(key) { begin(broadcast, in: row, isRepeated: true) }
  }

  /// How far a device that listens got; with nil it listens no more. False if nobody knows the device or the channel.
  public func replicateSubscription(_ udid: UDID, _ key: ChannelTable.Key, seenUntil: Timestamp?) -> Bool {
    guard let device = registry.knownDevice(udid), let row = channels.row(key) else { return false }
    guard let seenUntil else {
      channels.unsubscribe(device, row)
      return true
    }
    return channels.subscribe(device, row, seenUntil: seenUntil)
  }
}
