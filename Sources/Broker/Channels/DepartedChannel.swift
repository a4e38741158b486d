import PushModel

/// A channel that was deleted, with those who listened: they are told apart from it bit by bit. Until then they have the number of
/// its row, which no other channel gets. They count among the subscriptions until then, whose limit is that of channels on their way, too.
struct DepartedChannel {
  private let row: Int64
  private let listeners: ListenerList
  private var place = 0
  private var subscribers: Set<DeviceID>.Iterator

  init(_ row: Int64, _ channel: ChannelTable.Channel) {
    (self.row, listeners, subscribers) = (row, channel.listeners, channel.subscribers.makeIterator())
  }

  /// The next who does not know yet; nil when all do.
  mutating func next() -> Step? {
    while place < listeners.end {
      place += 1
      if let session = listeners[place - 1] { return .listener(session, row) }
    }
    return subscribers.next().map { .subscriber($0, row) }
  }

  enum Step {
    case listener(DeviceSession, Int64)
    case subscriber(DeviceID, Int64)
  }
}

extension ChannelTable {
  /// Most who are told apart from deleted channels in a turn, as a count: each costs about a microsecond, and a row of the store.
  static let departuresPerTurn = 256

  /// A session that may listen to no more is told at once of those that were deleted.
  func forgetDeparted(_ session: DeviceSession) {
    if !departed.isEmpty { session.joined = session.joined.filter { channels[$0.key] != nil } }
  }

  /// To be called once a turn, before it is committed. Answers whether there is more to do.
  mutating func goOnWithDepartures() -> Bool {
    var left = Self.departuresPerTurn
    while left > 0, !departed.isEmpty {
      left -= 1
      switch departed[0].next() {
      case .listener(let session, let row): session.joined[row] = nil
      case .subscriber(let device, let row): unsubscribe(device, row)
      case nil: _ = departed.removeFirst()
      }
    }
    return !departed.isEmpty
  }
}
