import PushModel

/// Routes notifications from providers to devices, keeps the last one for each token whose device is away, and
/// remembers what happened. No I/O and no clock: time is an argument, peers are `CourierOutlet`s.
///
/// Used from one thread. Whatever changes in a turn is handed to the store by `takeChanges` before anything of it
/// becomes visible to a peer (`Sources/ARCHITECTURE.md#promises` 1).
public final class Broker {
  public let registry: Registry
  public let journal: Journal
  public let options: BrokerOptions
  public internal(set) var counters = BrokerCounters()
  /// How it all went, in numbers.
  public let meter = PushMeter()
  /// What happened, once somebody watches.
  public let events = EventLog()
  /// Broadcast channels.
  public var channels = ChannelTable()
  /// Tokens of another service that were found gone while forwarding.
  public internal(set) var foreignFeedback = ForeignFeedback()
  /// What the gateway has read and another service is to decide about.
  public var pendingForwards = PendingForwards()
  var slots = PlainTable<MessageSlot>()
  var sessions: [DeviceSession?] = []
  var freeSessions: [Int32] = []
  /// Rows whose message must be written or removed.
  var dirtySlots: [Int32] = []
  /// Rows handed to a connection in this turn by providers that hear nothing of success.
  var sentThisTurn: [Int32] = []
  /// Rows handed to a connection in this turn by providers that are told so at its end.
  var answeredThisTurn: [Int32] = []
  /// A provider on the gateway learns in this turn how far it got, earlier turns included.
  var tellsOfEarlier = false
  /// Rows that wait to be read from the feedback service, oldest first.
  var feedbackQueue: [Int32] = []
  /// Where the next look for expired messages begins.
  var expiryCursor = 0
  /// Every device was forgotten in this turn.
  var startsOver = false

  public init(derivation: any TokenDerivation, options: BrokerOptions = BrokerOptions()) {
    registry = Registry(derivation: derivation)
    journal = Journal(capacity: options.history)
    self.options = options
  }

  deinit {
    for index in 0..<slots.count { slots[index].box.free() }
  }
}
