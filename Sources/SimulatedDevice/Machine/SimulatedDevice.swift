import Basics
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
/// a token is activated again. `networkLost` leads to `offline` from everywhere but `idle`, and `networkFound` on from there.
/// `stop` leads to `stopped` from everywhere.
package struct SimulatedDevice: ~Copyable {
  private enum Phase: Equatable {
    case idle
    case activating
    case connecting(giveUpAt: Instant)
    case signing(nonce: [UInt8])
    case online
    case waiting(until: Instant)
    case offline
    case stopped

    /// Whether there is a TLS connection, or one is being opened.
    var hasTransport: Bool {
      switch self {
      case .connecting, .signing, .online: true
      case .idle, .activating, .waiting, .offline, .stopped: false
      }
    }
  }

  /// How long opening a TLS connection may take, in nanoseconds.
  private static let openingNanoseconds: Int64 = 15 * 1_000_000_000

  private var apps: DeviceApps
  private var phase = Phase.idle
  private var session: CourierClientSession
  private var decoder = CourierDecoder()
  private var needsActivation: Bool
  private var channels = DeviceChannels()
  private var backoff: ReconnectBackoff
  private var random: SeededChoices
  private let keepAliveNanoseconds: Int64
  private let hasPhone: Bool
  /// Whether messages are wanted.
  private var isListening = true
  private var scheduledWake: Instant?
  /// When the present input came, and what it asks of the owner so far.
  private var now = Instant(nanoseconds: 0)
  private var actions: [DeviceAction] = []

  /// A device that is switched off. `isActivated` says that its key and certificate are there, `hasPhone` that its owner takes orders for
  /// a phone and reports of it.
  package init(
    state: DeviceState, isActivated: Bool, hasPhone: Bool = false, seed: UInt64,
    keepAliveNanoseconds: Int64 = CourierLimits.keepAliveNanoseconds
  ) {
    apps = DeviceApps(state)
    needsActivation = !isActivated
    random = SeededChoices(seed: seed)
    backoff = ReconnectBackoff(seed: seed)
    (self.keepAliveNanoseconds, self.hasPhone) = (keepAliveNanoseconds, hasPhone)
    session = CourierClientSession(keepAliveNanoseconds: keepAliveNanoseconds)
  }

  /// A person installs an app while it is switched off.
  package mutating func add(_ topic: Topic) { _ = apps.state.add(topic) }

  /// What it remembers.
  package var state: DeviceState { apps.state }
  /// Tokens that were told in this run.
  package var tokens: [TokenNeed: DeviceToken] { apps.tokens }
  /// What the service has given no token for, when it was asked last.
  package var refusals: Set<TokenNeed> { apps.refusals }
  /// Whether the service knows it at the moment.
  package var isConnected: Bool { session.isConnected }
  /// Whether the service has confirmed the channels that it listens to.
  package var isSubscribed: Bool { channels.isConfirmed }

  /// Something has happened; answers what to do, in order.
  package mutating func handle(_ input: DeviceInput, now: Instant) -> [DeviceAction] {
    self.now = now
    defer { actions = [] }
    if case .timePassed = input { scheduledWake = nil }
    react(to: input)
    if let wake = nextWake, wake != scheduledWake {
      scheduledWake = wake
      actions.append(.scheduleWake(at: wake))
    }
    return actions
  }

  private mutating func react(to input: DeviceInput) {
    guard phase != .stopped else { return }
    switch input {
    case .start: if phase == .idle { proceed() }
    case .stop: leave(for: .stopped, reason: "stopped")
    case .timePassed: timePassed()
    case .activated: activated()
    case .activationFailed(let reason):
      if phase == .activating { retryLater("activation failed: \(reason)") }
    case .transportOpening: if case .connecting = phase { connecting() }
    case .transportOpened(let date): transportOpened(date)
    case .transportClosed(let reason, let isUnreachable):
      if phase.hasTransport { retryLater(reason, isUnreachable: isUnreachable) }
    case .signed(let certificate, let signature): signed(certificate, signature)
    case .networkLost: networkLost()
    case .networkFound: if phase == .offline { proceed() }
    case .received(let bytes): received(bytes)
    case .install(let topic): install(topic)
    case .remove(let topic): remove(topic)
    case .wants(let needs): want(needs)
    case .listensTo(let needs): if channels.want(needs) { send(subscription()) }
    case .listens(let isListening):
      self.isListening = isListening
      send(filter)
    case .phoneReported(let report): send(session.command(report))
    }
  }

  private var nextWake: Instant? {
    switch phase {
    case .connecting(let giveUpAt): giveUpAt
    case .waiting(let until): until
    case .online: session.nextWake
    case .idle, .activating, .signing, .offline, .stopped: nil
    }
  }

  // MARK: Coming into contact and staying there

  /// The next step towards a connection.
  private mutating func proceed() {
    if needsActivation {
      phase = .activating
      actions.append(.activate(state.udid))
    } else {
      connecting()
      actions.append(.connect)
    }
  }

  private mutating func connecting() {
    phase = .connecting(giveUpAt: now.adding(nanoseconds: Self.openingNanoseconds))
  }

  private mutating func activated() {
    guard phase == .activating else { return }
    needsActivation = false
    emit(.activated(state.udid))
    proceed()
  }

  private mutating func transportOpened(_ date: Timestamp) {
    guard case .connecting = phase else { return }
    let nonce = DeviceIntroduction.nonce(at: date, random: random.next())
    phase = .signing(nonce: nonce)
    actions.append(.sign(nonce: nonce))
  }

  private mutating func signed(_ certificate: [UInt8], _ signature: [UInt8]) {
    guard case .signing(let nonce) = phase else { return }
    let request = DeviceIntroduction.request(
      state, hasPhone: hasPhone, nonce: nonce, certificate: certificate, signature: signature)
    session = CourierClientSession(keepAliveNanoseconds: keepAliveNanoseconds)
    decoder = CourierDecoder()
    phase = .online
    send(session.connect(request, at: now))
  }

  private mutating func timePassed() {
    switch phase {
    case .connecting(let giveUpAt) where now >= giveUpAt:
      actions.append(.disconnect)
      retryLater("the courier did not accept the connection")
    case .waiting(let until) where now >= until: proceed()
    case .online:
      switch session.timePassed(at: now) {
      case .nothing: break
      case .send(let bytes): send(bytes)
      case .close(let reason): hangUp(reason)
      }
    case .idle, .activating, .connecting, .signing, .waiting, .offline, .stopped: break
    }
  }

  /// Ends the connection from this side.
  private mutating func hangUp(_ reason: CourierClientSession.CloseReason) {
    actions.append(.disconnect)
    guard case .refused = reason, state.baseToken != nil else {
      if case .refused = reason { needsActivation = true }
      return retryLater(reason.description)
    }
    _ = apps.take(baseToken: nil)
    persist()
    emit(.disconnected(reason: reason.description))
    endSession()
    proceed()
  }

  /// Tells why there is no connection, and waits.
  private mutating func retryLater(_ reason: String, isUnreachable: Bool = false) {
    let wait = backoff.wait(at: now, isUnreachable: isUnreachable)
    endSession()
    emit(.disconnected(reason: reason))
    phase = .waiting(until: now.adding(nanoseconds: wait))
  }

  private mutating func endSession() {
    backoff.left()
    session.connectionClosed()
    decoder = CourierDecoder()
  }

  private mutating func networkLost() {
    guard phase != .idle, phase != .offline else { return }
    leave(for: .offline, reason: "the network is gone")
    backoff.forget()
  }

  /// Has no connection from now on.
  private mutating func leave(for next: Phase, reason: String) {
    if session.isConnected { emit(.disconnected(reason: reason)) }
    if phase.hasTransport { actions.append(.disconnect) }
    endSession()
    phase = next
  }

  // MARK: What the courier says

  private mutating func received(_ bytes: [UInt8]) {
    var input = bytes.span
    while case .online = phase, let action = session.next(&decoder, &input, at: now) { carryOut(action) }
  }

  private mutating func carryOut(_ action: CourierClientSession.FrameAction) {
    switch action {
    case .nothing, .nothingStored: break
    case .channelsConfirmed(let confirmation): channels.confirmed(confirmation)
    case .connected(let response): connected(response)
    case .tokenAnswered(let response, let request, let next):
      tokenAnswered(response, request, next)
    case .notification(let message, let acknowledgement, let isRepeated):
      send(acknowledgement)
      if !isRepeated { notify(message) }
    case .appStateChanged(let change): appStateChanged(change)
    case .phoneOrdered(let order): if hasPhone { actions.append(.orderPhone(order)) }
    case .close(let reason): hangUp(reason)
    }
  }

  /// The order is that of real clients: state, topics, then tokens
  /// (`Documentation/device-protocol.md#tokens-and-sessions`).
  private mutating func connected(_ response: ConnectedResponse) {
    guard let baseToken = response.baseToken ?? state.baseToken else {
      let error = CourierProtocolError(.itemMissing, "connected without a base token")
      return hangUp(.protocolError(error))
    }
    if apps.take(baseToken: baseToken) { persist() }
    backoff.connected(at: now)
    let requests = session.requestTokens(state.requests())
    emit(.connected(baseToken: baseToken))
    let subscription = hasPhone && !channels.isConfirmed ? subscription() : []
    send(SetState.active.encoded + filter + requests + subscription)
  }

  /// A notification for an app that is not there is acknowledged like any other, and nobody sees it.
  private mutating func notify(_ message: CourierMessage) {
    guard let need = state.need(of: message) else { return }
    if let channel = message.channel { channels.heard(channel, of: need.topic) }
    emit(.notification(DeviceNotification(message, topic: need.topic, context: need.context)))
  }
}

/// Apps come, go and get tokens.
extension SimulatedDevice {
  /// The topics of all that have a token, or none while nothing is to come.
  private var filter: [UInt8] {
    let enabled = isListening ? state.topicsWithTokens : []
    return session.command(FilterUpdate(baseToken: state.baseToken, enabled: enabled))
  }

  private mutating func tokenAnswered(
    _ response: AppTokenResponse, _ request: AppTokenRequest, _ next: [UInt8]
  ) {
    switch apps.take(response, for: request) {
    case .late: break
    case .ended(let need):
      persist()
      send(next)
      return emit(.tokenEnded(need))
    case .given(let need, let token, let isOther, let isNews):
      if isOther { persist() }
      // The filter goes out before anybody can learn the token and push to it.
      send((isOther ? filter : []) + next)
      return isNews ? emit(.token(need, token)) : ()
    case .refused(let need, let status): emit(.tokenRefused(need, status: status))
    case .gone(let topic): remove(topic)
    case .wanted(let need): self.request { $0.need == need }
    }
    send(next)
  }

  /// The channels, for the service; empty while there is no connection.
  private mutating func subscription() -> [UInt8] {
    guard isConnected, let baseToken = state.baseToken else { return [] }
    return session.command(channels.subscription(baseToken))
  }

  private mutating func want(_ needs: [TokenNeed]) {
    let before = state.topicsWithTokens
    let requests = apps.state.want(needs)
    guard !requests.isEmpty else { return }
    persist()
    send((state.topicsWithTokens == before ? [] : filter) + session.requestTokens(requests))
  }

  private mutating func appStateChanged(_ change: AppStateChange) {
    if change.action.isOfDevice { return becomeNew(change.action) }
    let known = state.held.first { $0.hash == change.topic && $0.need.context == nil }?.topic
    guard let topic = known ?? change.topicName else { return }
    switch change.action {
    case .removed: remove(topic)
    case .installed: install(topic)
    case .reinstalled: reinstall(topic)
    case .updated: if known != nil { emit(.app(topic, .updated)) }
    case .erased, .restored: break
    }
  }

  /// An app that is there already asks for its token again.
  private mutating func install(_ topic: Topic) {
    if apps.state.add(topic) {
      persist()
      emit(.app(topic, .installed))
    }
    request { $0.need == TokenNeed(topic) }
  }

  private mutating func remove(_ topic: Topic) {
    let family = apps.family(of: topic)
    guard !family.isEmpty else { return }
    apps.remove(topic)
    persist()
    send(filter)
    for topic in family { emit(.app(topic, .removed)) }
  }

  private mutating func reinstall(_ topic: Topic) {
    guard apps.family(of: topic).contains(topic) else { return install(topic) }
    apps.renew(topic)
    persist()
    send(filter)
    emit(.app(topic, .reinstalled))
    request { $0.topic.belongs(toApp: topic) }
  }

  private mutating func becomeNew(_ action: AppStateChange.Action) {
    apps.becomeNew(action)
    channels = DeviceChannels()
    needsActivation = true
    persist()
    emit(action == .erased ? .erased(state.udid) : .restored(state.udid))
    actions.append(.disconnect)
    endSession()
    proceed()
  }

  private mutating func request(where isWanted: (HeldToken) -> Bool) {
    send(session.requestTokens(state.requests(where: isWanted)))
  }

  private mutating func send(_ bytes: [UInt8]) {
    if !bytes.isEmpty { actions.append(.send(bytes)) }
  }

  private mutating func emit(_ event: DeviceEvent) { actions.append(.emit(event)) }

  private mutating func persist() { actions.append(.persist(state)) }
}
