import Basics
import PushModel

/// Routes notifications from providers to devices, stores the last one for each token whose device is offline, and
/// remembers what happened. No I/O and no clock: time is an argument, peers are `CourierOutlet`s.
///
/// It only composes its parts, one for each duty, each of which owns its state and is given those that it stands on. Used from one
/// thread.
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
  /// The way into the token map.
  public let rows: Rows
  /// Broadcast channels.
  public let channels: ChannelTable
  /// Who listens to them, and what goes out to them.
  public let broadcasts: Broadcasts
  /// Devices as they come and go.
  public let devices: Devices
  /// Apps on them, and their tokens.
  public let apps: Apps
  /// What providers push.
  public let routing: Routing
  /// What the gateway has read and another service is to decide about.
  public let pendingForwards = PendingForwards()
  /// What a turn comes to.
  public let turn: Turn

  public init(
    derivation: any TokenDerivation, options: BrokerOptions = BrokerOptions(), zones: ZoneShare = ZoneShare()
  ) {
    self.options = options
    registry = Registry(derivation: derivation, zones: zones)
    history = History(capacity: options.history, keptOfRefused: options.keptOfRefused)
    deliveries = Deliveries(registry, history)
    feedback = Feedback(registry, history, deliveries)
    rows = Rows(registry, history, deliveries, feedback)
    channels = ChannelTable(registry)
    broadcasts = Broadcasts(registry, history, channels)
    devices = Devices(registry, history, deliveries, feedback, broadcasts)
    apps = Apps(registry, history, deliveries, rows, broadcasts, devices)
    routing = Routing(registry, history, deliveries, feedback, apps, options)
    turn = Turn(
      registry: registry, deliveries: deliveries, feedback: feedback, pendingForwards: pendingForwards,
      channels: channels)
  }

  /// Which parts of the token map are changed here.
  public var zones: ZoneShare { registry.zones }
  /// The newest notifications.
  @inline(__always)
  public var journal: Journal { history.journal }
  /// How it all went, in numbers.
  @inline(__always)
  public var meter: PushMeter { history.meter }
  /// What happened, once somebody watches.
  public var events: EventLog { history.events }
  public var counters: BrokerCounters { history.counters }

  // MARK: What all parts do

  /// Forgets every device with its tokens, notifications and feedback, and ends their connections. Installs are counted from
  /// the beginning, so a device that comes back gets the tokens it had at first. What others hold by id stays valid: topics are kept.
  public func forgetDevices(now: Timestamp) {
    _ = devices.endSessions(from: 0, budget: .max, now: now)
    deliveries.forgetAll(now: now)
    feedback.forgetAll()
    registry.forgetDevices()
    channels.forgetSubscriptions()
    journal.forgetRegistrations()
  }

  /// What history and empty slots hold, in bytes: it makes looking back possible and the next push quick, and can be given back at any
  /// time. The token map and what is stored for devices are no part of it.
  public var spareBytes: Int { journal.heldBytes &+ deliveries.spareBytes }

  /// Gives back so many bytes, as far as there are: of empty slots first, of which it looks at `budget` rows, then the oldest of the
  /// history, of which `history` bytes stay.
  public func giveBack(_ bytes: Int, keepingOfHistory history: Int, budget: Int) {
    let rest = bytes - deliveries.giveBackSpare(bytes, budget: budget)
    if rest > 0 { journal.giveBack(downTo: max(history, journal.heldBytes - rest)) }
  }
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

/// Most that the history keeps of a notification that was refused, in bytes: what a good one may have at most. What comes may be
/// much larger, and whoever sends it may send it for ever.
public struct KeptOfRefused: Sendable {
  /// Of the payload of a frame, in bytes.
  public var legacyPayload = Limits.legacyPayload
  /// Of the body of a request, in bytes.
  public var body = max(Limits.voipPayload, Limits.broadcastPayload)
  /// What a frame has beside its payload, in bytes: the token, and 61 for the heads of frame and items, identifier, expiration and
  /// priority.
  private static let besidePayload = Limits.longestToken + 64

  public init() {}

  /// Of a whole frame, in bytes.
  var frame: Int { legacyPayload + Self.besidePayload }
}
