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
  }

  /// How long opening a TLS connection may take, in nanoseconds.
  private static let openingNanoseconds: Int64 = 15 * 1_000_000_000
  /// The first wait before connecting again at most, in nanoseconds.
  private static let firstWaitNanoseconds: Int64 = 1_000_000_000
  /// The longest wait, in nanoseconds. A person who has restarted the emulator should not wait longer than this.
  private static let longestWaitNanoseconds: Int64 = 60 * 1_000_000_000
  /// A connection that has lasted so long was a success, in nanoseconds: whatever ends it then, the next is tried at once. A service of
  /// several nodes ends connections when it moves devices; two devices with one identity, which end each other's, take turns.
  private static let stableNanoseconds: Int64 = 2 * 1_000_000_000
  /// Connections in a row that ended sooner, as a count, before the next one counts as a failure: devices may be moved more than once.
  private static let briefConnections = 3
  /// Where nobody takes connections, no more failures are counted than these: the wait is up to 4 s. An attempt costs next to nothing there,
  /// and whoever comes back is found soon.
  private static let unreachableFailures = 3
  /// Names of topics told in connect, as a count: the frame has to stay below the limit for strangers. The others are
  /// told with the app-token request.
  private static let topicNamesInConnect = 32

  /// What it remembers.
  package private(set) var state: DeviceState
  private var phase = Phase.idle
  private var session: CourierClientSession
  private var decoder = CourierDecoder()
  /// Since when the service has known it on this connection.
  private var connectedSince: Instant?
  private var needsActivation: Bool
  /// Tokens that were told in this run.
  package private(set) var tokens: [TokenNeed: DeviceToken] = [:]
  /// What the service has given no token for, when it was asked last.
  package private(set) var refusals: Set<TokenNeed> = []
  private var channels = DeviceChannels()
  private var backoff: Backoff
  /// Attempts in a row that came to nothing.
  private var failures = 0
  /// Connections in a row that the service took, and that did not last.
  private var briefConnections = 0
  private var random: SeededChoices
  private let keepAliveNanoseconds: Int64
  private let hasPhone: Bool
  /// Whether messages are wanted.
  private var isListening = true
  private var scheduledWake: Instant?
  /// When the present input came, and what it asks of the owner so far.
  private var now = Instant(nanoseconds: 0)
  private var actions: [DeviceAction] = []

  /// A device that is switched off. `topics` are installed besides the apps it remembers; `isActivated` says that its key
  /// and certificate are there, `hasPhone` that its owner takes orders for a phone and reports of it.
  package init(
    state: DeviceState, topics: [Topic] = [], isActivated: Bool, hasPhone: Bool = false, seed: UInt64,
    keepAliveNanoseconds: Int64 = CourierLimits.keepAliveNanoseconds
  ) {
    self.state = state
    needsActivation = !isActivated
    random = SeededChoices(seed: seed)
    backoff = Backoff(first: Self.firstWaitNanoseconds, longest: Self.longestWaitNanoseconds, seed: seed)
    (self.keepAliveNanoseconds, self.hasPhone) = (keepAliveNanoseconds, hasPhone)
    session = CourierClientSession(keepAliveNanoseconds: keepAliveNanoseconds)
    self.state.add(topics)
  }

  /// A person installs an app while it is switched off.
  package mutating func add(_ topic: Topic) { state.add([topic]) }

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
    case .activationFailed(let reason): activationFailed(reason)
    case .transportOpening: if case .connecting = phase { connecting() }
    case .transportOpened(let date): transportOpened(date)
    case .transportClosed(let reason, let isUnreachable):
      transportClosed(reason, isUnreachable)
    case .signed(let certificate, let signature): signed(certificate, signature)
    case .networkLost: networkLost()
    case .networkFound: if phase == .offline { proceed() }
    case .received(let bytes): received(bytes)
    case .install(let topic): install(topic)
    case .remove(let topic): remove(topic)
    case .wants(let needs): want(needs)
    case .listensTo(let needs): if channels.want(needs) { send(subscription) }
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

  private mutating func activationFailed(_ reason: String) {
    guard phase == .activating else { return }
    retryLater("activation failed: \(reason)")
  }

  /// The nonce is as `Documentation/device-protocol.md#authentication` has it.
  private mutating func transportOpened(_ date: Timestamp) {
    guard case .connecting = phase else { return }
    var nonce: [UInt8] = [0]
    withUnsafeBytes(of: UInt64(clamping: date.milliseconds).bigEndian) { nonce.append(contentsOf: $0) }
    withUnsafeBytes(of: random.next()) { nonce.append(contentsOf: $0) }
    phase = .signing(nonce: nonce)
    actions.append(.sign(nonce: nonce))
  }

  private mutating func signed(_ certificate: [UInt8], _ signature: [UInt8]) {
    guard case .signing(let nonce) = phase else { return }
    var request = ConnectRequest()
    request.baseToken = state.baseToken
    (request.state, request.flags) = (1, 0x41)
    (request.carrier, request.protocolVersion) = ("WiFi", 11)
    (request.systemVersion, request.systemBuild, request.hardwareModel) = ("18.0", "22A3354", "iPhone17,1")
    (request.certificate, request.nonce, request.signature) = (certificate, nonce, signature)
    request.simulatedDevice = hasPhone ? ConnectRequest.withPhone : ConnectRequest.withoutPhone
    request.topicNames = state.apps.prefix(Self.topicNamesInConnect).map(\.topic)
    session = CourierClientSession(keepAliveNanoseconds: keepAliveNanoseconds)
    decoder = CourierDecoder()
    phase = .online
    send(session.connect(request, at: now))
  }

  private mutating func transportClosed(_ reason: String, _ isUnreachable: Bool) {
    switch phase {
    case .connecting, .signing, .online: retryLater(reason, isUnreachable: isUnreachable)
    case .idle, .activating, .waiting, .offline, .stopped: break
    }
  }

  private mutating func timePassed() {
    switch phase {
    case .connecting(let giveUpAt) where now >= giveUpAt:
      actions.append(.disconnect)
      retryLater("the courier did not take the connection")
    case .waiting(let until) where now >= until: proceed()
    case .online: sessionTimePassed()
    case .idle, .activating, .connecting, .signing, .waiting, .offline, .stopped: break
    }
  }

  private mutating func sessionTimePassed() {
    switch session.timePassed(at: now) {
    case .nothing: break
    case .send(let bytes): send(bytes)
    case .close(let reason): hangUp(reason)
    }
  }

  /// Ends the connection from this side.
  private mutating func hangUp(_ reason: CourierClientSession.CloseReason) {
    actions.append(.disconnect)
    guard case .refused = reason else { return retryLater(reason.description) }
    guard state.baseToken != nil else {
      needsActivation = true
      return retryLater(reason.description)
    }
    state.baseToken = nil
    persist()
    emit(.disconnected(reason: reason.description))
    endSession()
    proceed()
  }

  /// Tells why there is no connection, and waits.
  private mutating func retryLater(_ reason: String, isUnreachable: Bool = false) {
    if let connectedSince {
      let hasLasted = now >= connectedSince.adding(nanoseconds: Self.stableNanoseconds)
      briefConnections = hasLasted ? 0 : briefConnections + 1
      failures = max(0, briefConnections - Self.briefConnections)
    }
    failures += 1
    if isUnreachable { failures = min(failures, Self.unreachableFailures) }
    endSession()
    emit(.disconnected(reason: reason))
    phase = .waiting(until: now.adding(nanoseconds: backoff.wait(after: failures)))
  }

  private mutating func endSession() {
    connectedSince = nil
    session.connectionClosed()
    decoder = CourierDecoder()
  }

  /// What went wrong before says nothing of the network that it finds next.
  private mutating func networkLost() {
    guard phase != .idle, phase != .offline else { return }
    leave(for: .offline, reason: "the network is gone")
    (failures, briefConnections) = (0, 0)
  }

  /// Has no connection from now on.
  private mutating func leave(for next: Phase, reason: String) {
    if session.isConnected { emit(.disconnected(reason: reason)) }
    switch phase {
    case .connecting, .signing, .online: actions.append(.disconnect)
    case .idle, .activating, .waiting, .offline, .stopped: break
    }
    endSession()
    phase = next
  }

  // MARK: What the courier says

  private mutating func received(_ bytes: UnsafeRawBufferPointer) {
    var input = bytes
    while case .online = phase, let action = nextFrame(in: &input) { carryOut(action) }
  }

  /// The meaning of the next frame; nil when all of `input` is used up.
  private mutating func nextFrame(in input: inout UnsafeRawBufferPointer) -> CourierClientSession.FrameAction?
  {
    do throws(CourierProtocolError) {
      let frame = try decoder.next(&input, limit: CourierLimits.frameAfterConnect)
      return frame.map { session.frameReceived($0, at: now) }
    } catch {
      return session.decodingFailed(error)
    }
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
    if state.baseToken != baseToken {
      state.baseToken = baseToken
      persist()
    }
    connectedSince = now
    let requests = session.requestTokens(state.requests())
    emit(.connected(baseToken: baseToken))
    let subscription = hasPhone && !channels.isConfirmed ? subscription : []
    send(SetState.active.encoded + filter + requests + subscription)
  }

  /// A notification for an app that is not there is acknowledged like any other, and nobody sees it.
  private mutating func notify(_ message: CourierMessage) {
    let entries = state.held.filter { $0.hash == message.topic }
    let entry =
      entries.first { $0.need.context != nil && $0.token == message.token }
      ?? entries.first { $0.need.context == nil }
    guard let topic = entry?.topic else { return }
    if let channel = message.channel { channels.heard(channel, of: topic) }
    let notification = DeviceNotification(message, topic: topic, context: entry?.need.context)
    emit(.notification(notification))
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
    guard let index = state.index(of: request) else { return send(next) }
    let need = state.held[index].need
    if request.isOver {
      state.held.remove(at: index)
      tokens[need] = nil
      persist()
      send(next)
      return emit(.tokenEnded(need))
    }
    guard let token = response.appToken else {
      noToken(index, response.status, hadOne: request.heldToken != nil)
      return send(next)
    }
    var update: [UInt8] = []
    if state.held[index].token != token {
      state.held[index].token = token
      persist()
      update = filter
    }
    // The filter goes out before anybody can learn the token and push to it.
    send(update + next)
    refusals.remove(need)
    if tokens.updateValue(token, forKey: need) != token { emit(.token(need, token)) }
  }

  /// An app without a token may be gone. A context that had one, as before a restore, wants another.
  private mutating func noToken(_ index: Int, _ status: UInt8, hadOne: Bool) {
    let need = state.held[index].need
    let isGone = status == AppTokenResponse.statusRemoved
    if isGone, need.context == nil { return remove(need.topic) }
    if isGone, hadOne {
      state.held[index].token = nil
      return request { $0.need == need }
    }
    refusals.insert(need)
    emit(.tokenRefused(need, status: status))
  }

  /// The channels, for the service; empty while there is no connection.
  private var subscription: [UInt8] {
    mutating get {
      guard isConnected, let baseToken = state.baseToken else { return [] }
      return session.command(channels.subscription(baseToken))
    }
  }

  private mutating func want(_ needs: [TokenNeed]) {
    let before = state.topicsWithTokens
    let requests = state.want(needs)
    guard !requests.isEmpty else { return }
    persist()
    let update = state.topicsWithTokens == before ? [] : filter
    send(update + session.requestTokens(requests))
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
    if state.add(topic) {
      persist()
      emit(.app(topic, .installed))
    }
    request { $0.need == TokenNeed(topic) }
  }

  private mutating func remove(_ topic: Topic) {
    let family = family(of: topic)
    guard !family.isEmpty else { return }
    state.remove(topic)
    forgetTokens(of: topic)
    persist()
    send(filter)
    for topic in family { emit(.app(topic, .removed)) }
  }

  private mutating func reinstall(_ topic: Topic) {
    let family = family(of: topic)
    guard family.contains(topic) else { return install(topic) }
    state.renew(topic)
    forgetTokens(of: topic)
    persist()
    send(filter)
    emit(.app(topic, .reinstalled))
    request { $0.topic.belongs(toApp: topic) }
  }

  /// The app's topics that it has: those with a suffix end, and come back, with the one without.
  private func family(of topic: Topic) -> [Topic] {
    state.apps.map(\.topic).filter { $0.belongs(toApp: topic) }
  }

  private mutating func forgetTokens(of app: Topic) {
    tokens = tokens.filter { !$0.key.topic.belongs(toApp: app) }
  }

  /// Everything that Apple gave the device is gone. Erased, its apps are too; restored, they come back as from a backup and get
  /// new tokens.
  private mutating func becomeNew(_ action: AppStateChange.Action) {
    state.baseToken = nil
    if action == .erased { state.held = [] }
    state.renew()
    (tokens, channels) = ([:], DeviceChannels())
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
