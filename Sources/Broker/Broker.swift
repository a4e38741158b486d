import PushModel

/// Routes notifications from providers to devices, keeps the last one for each token whose device is away, and
/// remembers what happened. No I/O and no clock: time is an argument, peers are `CourierOutlet`s.
///
/// It puts in sequence what its parts do; each of them owns its state. Used from one thread. Whatever changes in a turn is
/// handed to the store by `takeChanges` before anything of it becomes visible to a peer
/// (`Sources/ARCHITECTURE.md#promises` 1).
public final class Broker {
  public let options: BrokerOptions
  /// Which device has which token.
  public let registry: Registry
  /// What happened to notifications, in numbers and one by one.
  public let history: History
  /// Who is connected, and the newest notification of each token.
  public let deliveries: Deliveries
  /// What providers are to hear of tokens that are gone.
  public let feedback: Feedback
  /// What the gateway has read and another service is to decide about.
  public let pendingForwards = PendingForwards()
  /// Broadcast channels.
  public var channels: ChannelTable
  /// Broadcasts that have not come to all who listen.
  var broadcasts = BroadcastQueue()
  /// Told of each broadcast of the history that has, by its id.
  public var onBroadcastThrough: ((UInt64) -> Void)?
  /// The row that was prefetched last.
  @exclusivity(unchecked) var prefetched: RegistrationID?
  /// Tokens that were not registered at their first push because there are too many, as a count.
  public internal(set) var refusedAdoptions: UInt64 = 0
  /// Every device was forgotten in this turn.
  var startsOver = false
  /// Says which part of the token map a channel belongs to; nil where there is one part.
  public var zoneOfChannel: (([UInt8]) -> UInt16)?
  /// The parts of the token map that are changed here, by number; of the others a copy is kept. nil for all.
  public var ownedZones: [Bool]?
  /// The node of a cluster by which comes what is in this history; nil for an emulator that is alone.
  public var nodeName: String?

  public init(derivation: any TokenDerivation, options: BrokerOptions = BrokerOptions()) {
    registry = Registry(derivation: derivation)
    history = History(capacity: options.history, keptOfRefused: options.keptOfRefused)
    deliveries = Deliveries(registry, history)
    feedback = Feedback(registry, history, deliveries)
    channels = ChannelTable(registry)
    self.options = options
  }

  /// The newest notifications.
  @inline(__always)
  public var journal: Journal { history.journal }
  /// How it all went, in numbers.
  @inline(__always)
  public var meter: PushMeter { history.meter }
  /// What happened, once somebody watches.
  public var events: EventLog { history.events }
  public var counters: BrokerCounters { history.counters }
}

/// What an operator may change about delivery.
public struct BrokerOptions: Sendable {
  /// How many notifications are remembered for inspection, as a count.
  public var history = Journal.defaultCapacity
  /// What is remembered of those that were refused.
  public var keptOfRefused = KeptOfRefused()
  /// How long after the device's report 410 begins, in seconds (`Documentation/provider-api.md#storage-and-delivery`,
  /// `gone_grace`).
  public var goneGraceSeconds: Int64 = 0
  /// Age at which a device token answers 410 `ExpiredToken`, in seconds; nil for never
  /// (`Documentation/provider-api.md#reasons`: Apple does not say when).
  public var tokenLifetimeSeconds: Int64?
  /// Unknown tokens are registered at their first push.
  public var adoptsTokens = false

  public init() {}
}
