import PushModel

/// The server's side of one device connection: who is on it, what may be sent, when to give up.
///
/// ```
///                 connect              identityAccepted
///  awaitingConnect ──────→ verifying ─────────────────→ established ⟲ connect, filter, app token, ack, keep-alive
///        │                     │                             │
///        └──────────┬──────────┴──────────────┬──────────────┘
///                   ↓ deadline, broken rule,  ↓ refused, idle, end of stream
///                 closed
/// ```
///
/// Where the diagram lies: an established connection may verify further identities meanwhile
/// (`Documentation/device-protocol.md#connect`: a Mac sends one connect per user), and the others go on undisturbed.
/// Keep-alive is answered in every state but `closed`.
///
/// The owner does TLS, verification and routing. It calls `bytesReceived` once for each read, then `acknowledgement(in:)` and
/// `frameReceived` for each frame, and does what the answers say.
public struct CourierServerSession: ~Copyable {
  var state: State
  /// Until when nothing unsolicited may be written (`Documentation/device-protocol.md#quiet-after-an-answer`). A flat
  /// time rather than "until the next frame": some client acknowledges from one task and pings from another, so that a
  /// frame does not show it has read our answer.
  public internal(set) var holdUntil = Instant.distantPast
  /// Whether a simulated device of ours is on the other side.
  public internal(set) var isSimulatedDevice = false

  public init(acceptedAt now: Instant) {
    state = .awaitingConnect(
      Stranger(deadline: now.adding(nanoseconds: CourierLimits.authenticationNanoseconds)))
  }

  enum State {
    case awaitingConnect(Stranger)
    case verifying(Stranger)
    case established(Established)
    case closed
  }

  /// A peer without an accepted identity.
  struct Stranger {
    let deadline: Instant
    var byteCount = 0

    /// Counts what it sends; false once that is more than a stranger may.
    mutating func takes(_ count: Int) -> Bool {
      byteCount += count
      return byteCount <= CourierLimits.bytesBeforeConnect
    }
  }

  /// A peer with at least one.
  struct Established {
    /// The first identity; the others are rare enough to be kept elsewhere.
    let first: DeviceToken
    var others: [DeviceToken] = []
    /// Whether a further identity is being verified.
    var isVerifying = false
    var lastHeard: Instant
    /// Connects since `connectsSince`, as a count.
    private var connects = 0
    private var connectsSince: Instant

    init(first: DeviceToken, lastHeard now: Instant) {
      (self.first, lastHeard, connectsSince) = (first, now, now)
    }

    /// Counts a further connect; false once there are more than a device may send.
    mutating func takesConnect(at now: Instant) -> Bool {
      if now >= connectsSince.adding(nanoseconds: CourierLimits.connectsNanoseconds) {
        (connects, connectsSince) = (0, now)
      }
      connects += 1
      return connects < CourierLimits.connectsPerConnection
    }

    var identityCount: Int { 1 + others.count }

    /// The identity that a command is for: the one it names if that is here, the first if it names none.
    func identity(_ named: DeviceToken?) -> DeviceToken? {
      guard let named else { return first }
      return named == first || others.contains(named) ? named : nil
    }
  }

  /// Whether an identity has been accepted and the connection is alive.
  public var isEstablished: Bool {
    switch state {
    case .established: true
    case .awaitingConnect, .verifying, .closed: false
    }
  }

  public var isClosed: Bool {
    switch state {
    case .closed: true
    case .awaitingConnect, .verifying, .established: false
    }
  }

  /// Largest frame body to be taken at the moment, in bytes, for `CourierDecoder.next`.
  public var frameLimit: Int {
    isEstablished ? CourierLimits.frameAfterConnect : CourierLimits.frameBeforeConnect
  }

  /// The base tokens that are connected here, the first identity first.
  public var identities: [DeviceToken] {
    switch state {
    case .established(let established): [established.first] + established.others
    case .awaitingConnect, .verifying, .closed: []
    }
  }

  /// When `timePassed` should be called next; nil when closed.
  public var nextDeadline: Instant? {
    switch state {
    case .awaitingConnect(let stranger), .verifying(let stranger): stranger.deadline
    case .established(let established):
      established.lastHeard.adding(nanoseconds: CourierLimits.idleNanoseconds)
    case .closed: nil
    }
  }

  /// Whether something that the device did not ask for may be written now; if not, after `holdUntil`.
  public func mayPush(at now: Instant) -> Bool { now >= holdUntil && isEstablished }
}
