import CourierWire
import PushModel

/// An iPhone as far as push is concerned: gets a certificate, connects, registers its apps, receives, acknowledges, comes
/// back when the connection is lost. No I/O: inputs in, actions out, time as an argument, one seed for all chance.
///
/// ```
///            start             activated        transportOpened        signed
///  idle ─────────→ activating ───────→ connecting ─────────→ signing ─────────→ online
///         (no certificate)                 ↑  └──────────────┴───────┬────────────┘
///                                          │ time                    ↓ closed, refused, unanswered
///                                          └───────────────────── waiting
/// ```
///
/// Where the diagram lies: with a certificate `start` and the end of a wait go straight to `connecting`, without one to `activating`.
/// A remembered base token that the service refuses is forgotten and the next attempt comes at once; an identity refused without
/// a token is activated anew. `stop` leads to `stopped` from everywhere.
public struct SimulatedDevice: ~Copyable {
  enum Phase: Equatable {
    case idle
    case activating
    case connecting(giveUpAt: Instant)
    case signing(nonce: [UInt8])
    case online
    case waiting(until: Instant)
    case stopped
  }

  /// How long opening a TLS connection may take, in nanoseconds.
  static let openingNanoseconds: Int64 = 15 * 1_000_000_000
  /// The first wait before connecting again at most, in nanoseconds.
  static let firstWaitNanoseconds: Int64 = 1_000_000_000
  /// The longest wait, in nanoseconds. A person who has restarted the emulator should not wait longer than this.
  static let longestWaitNanoseconds: Int64 = 60 * 1_000_000_000
  /// A connection that has lasted so long was a success, in nanoseconds; what ends sooner counts as another failure.
  static let stableNanoseconds: Int64 = 10 * 1_000_000_000
  /// Installed apps at most, as a count: the filter that names them all has to fit one frame.
  public static let maximumApps = 1000
  /// Names of topics told in connect, as a count: the frame has to stay below the limit for strangers. The others are
  /// told with the app-token request.
  static let topicNamesInConnect = 32

  /// What it remembers.
  public internal(set) var state: DeviceState
  var phase = Phase.idle
  var session: CourierClientSession
  var decoder = CourierDecoder()
  /// Since when the service has known it on this connection.
  var connectedSince: Instant?
  var needsActivation: Bool
  /// Tokens that were told in this run.
  var announced: [Topic: DeviceToken] = [:]
  var backoff: Backoff
  /// Attempts in a row that came to nothing.
  var failures = 0
  var random: SeededChoices
  let keepAliveNanoseconds: Int64
  private var scheduledWake: Instant?

  /// A device that is switched off. `topics` are installed besides the apps it remembers; `isActivated` says that its key
  /// and certificate are there.
  public init(
    state: DeviceState, topics: [Topic] = [], isActivated: Bool, seed: UInt64,
    keepAliveNanoseconds: Int64 = CourierLimits.keepAliveNanoseconds
  ) {
    self.state = state
    needsActivation = !isActivated
    random = SeededChoices(seed: seed)
    backoff = Backoff(first: Self.firstWaitNanoseconds, longest: Self.longestWaitNanoseconds, seed: seed)
    self.keepAliveNanoseconds = keepAliveNanoseconds
    session = CourierClientSession(keepAliveNanoseconds: keepAliveNanoseconds)
    for topic in topics { _ = addApp(topic) }
  }

  /// Whether the service knows it at the moment.
  public var isConnected: Bool { session.isConnected }

  /// Something has happened; answers what to do, in order.
  public mutating func handle(_ input: DeviceInput, now: Instant) -> [DeviceAction] {
    var actions: [DeviceAction] = []
    if case .timePassed = input { scheduledWake = nil }
    react(to: input, now, &actions)
    if let wake = nextWake, wake != scheduledWake {
      scheduledWake = wake
      actions.append(.scheduleWake(at: wake))
    }
    return actions
  }

  private mutating func react(to input: DeviceInput, _ now: Instant, _ actions: inout [DeviceAction]) {
    guard phase != .stopped else { return }
    switch input {
    case .start: if phase == .idle { proceed(now, &actions) }
    case .stop: stop(&actions)
    case .timePassed: timePassed(now, &actions)
    case .activated: activated(now, &actions)
    case .activationFailed(let reason): activationFailed(reason, now, &actions)
    case .transportOpened(let date): transportOpened(date, &actions)
    case .transportClosed(let reason): transportClosed(reason, now, &actions)
    case .signed(let certificate, let signature): signed(certificate, signature, now, &actions)
    case .received(let bytes): received(bytes, now, &actions)
    case .install(let topic): install(topic, &actions)
    case .remove(let topic): remove(topic, &actions)
    }
  }

  private var nextWake: Instant? {
    switch phase {
    case .connecting(let giveUpAt): giveUpAt
    case .waiting(let until): until
    case .online: session.nextWake
    case .idle, .activating, .signing, .stopped: nil
    }
  }
}
