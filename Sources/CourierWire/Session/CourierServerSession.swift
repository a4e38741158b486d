import Basics
import PushModel

/// The server's side of one device connection: who is on it, what a frame asks for, when to give up.
///
/// ```
///  stranger ─ connect ─ identityAccepted ─→ established ⟲ connect, filter, app token, ack, keep-alive
///      │                                         │
///      └────────────────────┬────────────────────┘
///                           ↓ deadline, broken rule, refused, idle, end of stream
///                        closed
/// ```
///
/// Beside that a connect waits for its verdict or none does. An established connection may have further identities verified
/// (`Documentation/device-protocol.md#connect`: a Mac sends one connect per user), and the others go on undisturbed.
/// Keep-alive is answered in every state but `closed`.
///
/// The owner does TLS, verification and routing. It calls `frameReceived` for each frame, and `bytesReceived` before while it is a
/// stranger's, and does what the answers say. What it sends of its own accord waits for `QuietPause`. Receipts, which are nearly all
/// that an established connection says, are the owner's: nothing here depends on them.
public struct CourierServerSession: ~Copyable {
  private var state: State
  /// A connect waits for its verdict.
  private var isVerifying = false
  /// A simulated device of ours is on the other side, which is told more than others.
  public private(set) var isSimulated = false
  /// And it has a phone, which takes orders and reports.
  public private(set) var hasPhone = false

  public init(acceptedAt now: Instant) {
    state = .stranger(Stranger(deadline: now.adding(nanoseconds: CourierLimits.authenticationNanoseconds)))
  }

  /// Whoever takes the state puts the next one in its place, or it does not compile.
  private enum State: ~Copyable {
    case stranger(Stranger)
    case established(Established)
    case closed

    mutating func receive(_ count: Int) -> CourierCloseReason? {
      switch consume self {
      case .stranger(var stranger):
        let mayStay = stranger.takes(count)
        self = mayStay ? .stranger(stranger) : .closed
        return mayStay ? nil : .tooManyBytesBeforeConnect
      case .established(let established): self = .established(established)
      case .closed: self = .closed
      }
      return nil
    }

    /// A connect has come: false, and closed, if it is one too many.
    mutating func connect(at now: Instant) -> Bool {
      switch consume self {
      case .stranger(let stranger): self = .stranger(stranger)
      case .established(var established):
        let mayStay = established.takesConnect(at: now)
        self = mayStay ? .established(established) : .closed
        return mayStay
      case .closed: self = .closed
      }
      return true
    }

    /// False, and closed, if it is one identity too many.
    mutating func accept(_ token: DeviceToken, at now: Instant) -> Bool {
      switch consume self {
      case .stranger: self = .established(Established(first: token, at: now))
      case .established(var established):
        let isWelcome = established.admits(token)
        self = isWelcome ? .established(established) : .closed
        return isWelcome
      case .closed: self = .closed
      }
      return true
    }

    var stranger: Stranger? {
      switch self {
      case .stranger(let stranger): stranger
      default: nil
      }
    }

    var established: Established? {
      switch self {
      case .established(let established): established
      default: nil
      }
    }
  }

  /// A peer without an accepted identity.
  private struct Stranger {
    let deadline: Instant
    var byteCount = 0

    /// Counts what it sends; false once that is more than a stranger may.
    mutating func takes(_ count: Int) -> Bool {
      byteCount += count
      return byteCount <= CourierLimits.bytesBeforeConnect
    }
  }

  /// A peer with at least one.
  private struct Established {
    /// The first identity; the others are rare enough to be kept elsewhere.
    let first: DeviceToken
    var others: [DeviceToken] = []
    /// Connects since `connectsSince`, as a count.
    private var connects = 0
    private var connectsSince: Instant

    init(first: DeviceToken, at now: Instant) { (self.first, connectsSince) = (first, now) }

    /// Counts a further connect; false once there are more than a device may send.
    mutating func takesConnect(at now: Instant) -> Bool {
      if now >= connectsSince.adding(nanoseconds: CourierLimits.connectsNanoseconds) {
        (connects, connectsSince) = (0, now)
      }
      connects += 1
      return connects < CourierLimits.connectsPerConnection
    }

    /// Takes in a further identity; false if that is one too many.
    mutating func admits(_ token: DeviceToken) -> Bool {
      if identity(token) == nil { others.append(token) }
      return 1 + others.count <= CourierLimits.identitiesPerConnection
    }

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
    default: false
    }
  }

  public var isClosed: Bool {
    switch state {
    case .closed: true
    default: false
    }
  }

  /// Largest frame body to be taken at the moment, in bytes, for `CourierDecoder.next`.
  public var frameLimit: Int {
    guard isEstablished else { return CourierLimits.frameBeforeConnect }
    return hasPhone ? CourierLimits.frameOfPhone : CourierLimits.frameAfterConnect
  }

  /// The base tokens that are connected here, the first identity first.
  public var identities: [DeviceToken] {
    state.established.map { [$0.first] + $0.others } ?? []
  }

  /// How long it may go on when nothing has been heard since; nil when closed.
  public func deadline(lastHeard: Instant) -> Instant? {
    if let stranger = state.stranger { return stranger.deadline }
    return isEstablished ? lastHeard.adding(nanoseconds: CourierLimits.idleNanoseconds) : nil
  }

  // MARK: What happens besides frames

  /// The session has something to write and may be over.
  public enum VerdictAction: Equatable {
    /// Nobody waits for this verdict: the connection is closed, or no connect is pending.
    case nothing
    /// Write these bytes.
    case send([UInt8])
    /// Write these bytes, then end the connection.
    case sendAndClose([UInt8], CourierCloseReason)
  }

  /// Bytes have been read, before they are cut into frames; those of an established connection need not be told. Nil: go on. Otherwise
  /// close.
  public mutating func bytesReceived(_ count: Int) -> CourierCloseReason? { state.receive(count) }

  /// The clock has moved. Nil: go on. Otherwise close.
  public mutating func timePassed(at now: Instant, lastHeard: Instant) -> CourierCloseReason? {
    guard let deadline = deadline(lastHeard: lastHeard), now >= deadline else { return nil }
    let reason: CourierCloseReason = isEstablished ? .idle : .authenticationTimeout
    state = .closed
    return reason
  }

  /// The verified device is `baseToken`. With `tokenWasKnown` it offered that very token and is not told again
  /// (`Documentation/device-protocol.md#connected`). `date` is the wall clock's, which the device is told.
  public mutating func identityAccepted(
    _ request: ConnectRequest, baseToken: DeviceToken, tokenWasKnown: Bool, at now: Instant, date: Timestamp
  ) -> VerdictAction {
    guard takesVerdict() else { return .nothing }
    guard state.accept(baseToken, at: now) else { return refusal(because: .tooManyIdentities, date) }
    isSimulated = isSimulated || request.simulatedDevice != nil
    hasPhone = hasPhone || request.simulatedDevice ?? 0 >= ConnectRequest.withPhone
    return .send(
      ConnectedResponse(status: 0, baseToken: tokenWasKnown ? nil : baseToken, at: date).encoded)
  }

  /// Certificate, signature or token do not hold. The connection ends with it, as was seen at Apple
  /// (`Documentation/device-protocol.md#connected`).
  public mutating func identityRefused(date: Timestamp) -> VerdictAction {
    guard takesVerdict() else { return .nothing }
    return refusal(because: .identityRefused, date)
  }

  /// A further identity does not belong here, through no fault of its own: it is refused, and the others stay.
  public mutating func identityDeclined(date: Timestamp) -> VerdictAction {
    guard isEstablished, takesVerdict() else { return .nothing }
    return .send(
      ConnectedResponse(status: ConnectedResponse.statusRefused, baseToken: nil, at: date).encoded)
  }

  /// Whether somebody waits for a verdict, and does not any more.
  private mutating func takesVerdict() -> Bool {
    defer { isVerifying = false }
    return isVerifying && !isClosed
  }

  private mutating func refusal(because reason: CourierCloseReason, _ date: Timestamp) -> VerdictAction {
    state = .closed
    let response = ConnectedResponse(status: ConnectedResponse.statusRefused, baseToken: nil, at: date)
    return .sendAndClose(response.encoded, reason)
  }

  /// The connection has ended, or the owner ends it.
  public mutating func connectionClosed() { state = .closed }

  private mutating func close(_ reason: CourierCloseReason) -> FrameAction {
    state = .closed
    return .close(reason)
  }

  // MARK: Frames

  /// What the owner has to do about a frame.
  public enum FrameAction: Equatable {
    case nothing
    /// Write these bytes.
    case send([UInt8])
    /// Find out who this is, then call `identityAccepted` or `identityRefused`. Until then a further connect is an error.
    case verify(ConnectRequest)
    /// The identity wants exactly these topics from now on.
    case replaceFilter(FilterUpdate, of: DeviceToken)
    /// The identity wants the token of a topic; answer with `AppTokenResponse`.
    case provideToken(AppTokenRequest, for: DeviceToken)
    /// The identity joins or leaves channels; answer with `ChannelConfirmation`.
    case subscribe(ChannelSubscription)
    /// The simulated device tells of its phone.
    case phoneReported(PhoneReport)
    /// End the connection.
    case close(CourierCloseReason)
  }

  /// A whole frame has arrived.
  public mutating func frameReceived(_ frame: CourierFrame, at now: Instant) -> FrameAction {
    do throws(CourierProtocolError) {
      return try read(frame, at: now)
    } catch {
      return close(.protocolError(error))
    }
  }

  /// The bytes could not be cut into frames.
  public mutating func decodingFailed(_ error: CourierProtocolError) -> FrameAction {
    close(.protocolError(error))
  }

  private mutating func read(
    _ frame: CourierFrame, at now: Instant
  ) throws(CourierProtocolError) -> FrameAction {
    guard !isClosed else { return .nothing }
    switch frame.command {
    case .connect: return connectReceived(try ConnectRequest(frame), at: now)
    case .filter: return filterReceived(try FilterUpdate(frame))
    case .appTokenRequest: return tokenRequested(try AppTokenRequest(frame))
    case .message: return messageReceived(try UpstreamMessage(frame))
    case .keepAlive: return .send(KeepAliveAnswer().encoded)
    case .channels: return channelsReceived(try ChannelSubscription(frame))
    case .setState, .setActiveInterval, .flushAnswer, .flush: return .nothing
    case .phoneReport: return isEstablished && hasPhone ? .phoneReported(try PhoneReport(frame)) : .nothing
    case .acknowledgement, .connected, .keepAliveAnswer, .noStorage, .appTokenResponse, .appState,
      .phoneOrder, nil:
      return .nothing
    }
  }

  private mutating func connectReceived(_ request: ConnectRequest, at now: Instant) -> FrameAction {
    guard !isVerifying else { return close(.connectWhileVerifying) }
    guard state.connect(at: now) else { return .close(.tooManyConnects) }
    isVerifying = true
    return .verify(request)
  }

  /// A filter for a token that is not connected here is a late one, for a token that has been replaced.
  private mutating func filterReceived(_ update: FilterUpdate) -> FrameAction {
    onBehalf(of: update.baseToken, .filter, otherwise: .nothing) { .replaceFilter(update, of: $0) }
  }

  /// A stranger's token gets a refusal rather than silence, for the device waits for the answer.
  private mutating func tokenRequested(_ request: AppTokenRequest) -> FrameAction {
    let refusal = AppTokenResponse(answering: request, with: nil)
    return onBehalf(of: request.baseToken, .appTokenRequest, otherwise: .send(refusal.encoded)) {
      .provideToken(request, for: $0)
    }
  }

  /// What a device sends upward is acknowledged and goes no further
  /// (`Documentation/device-protocol.md#minimal-server`).
  private mutating func messageReceived(_ message: UpstreamMessage) -> FrameAction {
    onBehalf(of: nil, .message, otherwise: .nothing) { _ in
      .send(Acknowledgement(messageId: message.messageId).encodedStatusFirst)
    }
  }

  private mutating func channelsReceived(_ subscription: ChannelSubscription) -> FrameAction {
    let refusal = ChannelConfirmation(
      index: subscription.index, baseToken: subscription.baseToken, status: ChannelConfirmation.statusRefused)
    return onBehalf(of: subscription.baseToken, .channels, otherwise: .send(refusal.encoded)) { _ in
      .subscribe(subscription)
    }
  }

  /// Lets `body` act for an identity of this connection; `otherwise` if the named one is not here. Without any identity the
  /// command ends the connection.
  private mutating func onBehalf(
    of named: DeviceToken?, _ command: CourierCommand, otherwise: @autoclosure () -> FrameAction,
    _ body: (DeviceToken) -> FrameAction
  ) -> FrameAction {
    guard let established = state.established else { return close(.commandBeforeConnect(command.rawValue)) }
    return established.identity(named).map(body) ?? otherwise()
  }
}

/// Why a device connection ends from this side.
public enum CourierCloseReason: Equatable, Sendable, CustomStringConvertible {
  /// The peer broke the protocol.
  case protocolError(CourierProtocolError)
  /// A command that needs an identity came before any was accepted.
  case commandBeforeConnect(UInt8)
  /// A second connect came before the first was answered.
  case connectWhileVerifying
  /// Too many bytes without an accepted identity.
  case tooManyBytesBeforeConnect
  /// No identity was accepted in time.
  case authenticationTimeout
  /// Nothing was heard for `CourierLimits.idleNanoseconds`.
  case idle
  /// Certificate, signature or token were refused.
  case identityRefused
  /// More identities than `CourierLimits.identitiesPerConnection`.
  case tooManyIdentities
  /// More connects than `CourierLimits.connectsPerConnection`.
  case tooManyConnects
  /// It acknowledged too much of what it was never sent.
  case tooManyStrayAcknowledgements
  /// It told more of its phone than `PhoneReportAllowance` lets it.
  case tooManyReports

  public var description: String {
    switch self {
    case .protocolError(let error): error.description
    case .commandBeforeConnect(let command): "command \(command) came before connect"
    case .connectWhileVerifying: "a second connect came before the first was answered"
    case .tooManyBytesBeforeConnect: "too many bytes before connect"
    case .authenticationTimeout: "no identity in time"
    case .idle: "nothing was received for too long"
    case .identityRefused: "the identity was refused"
    case .tooManyIdentities: "too many identities on one connection"
    case .tooManyConnects: "too many connects on one connection"
    case .tooManyStrayAcknowledgements: "it acknowledged too many messages that it was not sent"
    case .tooManyReports: "it sent too many reports about its phone"
    }
  }
}
