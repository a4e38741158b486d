import Basics
import CourierWire
import PushModel

/// The courier in memory: the product's own server session with a broker of a few lines behind it.
final class TestCourier {
  var session = CourierServerSession(acceptedAt: Instant(nanoseconds: 0))
  private(set) var pause = QuietPause()
  private var decoder = CourierDecoder()

  /// What it has heard, in order.
  var requests: [ConnectRequest] = []
  var tokenRequests: [AppTokenRequest] = []
  var filters: [[TopicHash]] = []
  var acknowledgements: [Acknowledgement] = []
  var reports: [PhoneReport] = []
  var subscriptions: [ChannelSubscription] = []
  var confirmsChannels = true
  /// How it behaves.
  var baseToken = DeviceToken(loading: 1)
  var refusesIdentity = false
  var refusesToken = false
  var isStalled = false
  var tokenRefusal: UInt8?
  var contextRefusal: UInt8?
  var installs: UInt64 = 0
  var tokens: [TopicHash: DeviceToken] = [:]
  var contextTokens: [TokenContext: DeviceToken] = [:]
  /// Messages that wait for their topic, the newest of each.
  private var kept: [TopicHash: CourierMessage] = [:]
  private var unacknowledged: [UInt32: CourierMessage] = [:]
  private var output: [UInt8] = []
  private(set) var hasHungUp = false
  private var nextId: UInt32 = 100

  func accept(at now: Instant) {
    session = CourierServerSession(acceptedAt: now)
    pause = QuietPause()
    decoder = CourierDecoder()
    (output, hasHungUp) = ([], false)
    filters = []
  }

  /// Takes bytes from the device and answers with some.
  func receive(_ bytes: [UInt8], at now: Instant) -> [UInt8] {
    guard !isStalled else { return [] }
    _ = session.bytesReceived(bytes.count)
    var decoder = CourierDecoder()
    swap(&decoder, &self.decoder)
    defer { swap(&decoder, &self.decoder) }
    var input = bytes.span
    do throws(CourierProtocolError) {
      while try decoder.next(
        &input, limit: session.frameLimit, { frame throws(CourierProtocolError) in try take(frame, at: now) })
        != nil
      {}
    } catch {
      carryOut(session.decodingFailed(error), at: now)
    }
    if !output.isEmpty { pause.answerLeft(at: now) }
    return takeOutput(at: now)
  }

  private func take(_ frame: CourierFrame, at now: Instant) throws(CourierProtocolError) {
    if frame.isReceipt {
      acknowledged(try Acknowledgement(frame))
    } else {
      carryOut(session.frameReceived(frame, at: now), at: now)
    }
  }

  private func carryOut(_ action: CourierServerSession.FrameAction, at now: Instant) {
    switch action {
    case .nothing: break
    case .subscribe(let subscription): subscribe(subscription)
    case .send(let bytes): output += bytes
    case .verify(let request): verify(request, at: now)
    case .replaceFilter(let update, _): filters.append(update.enabled)
    case .provideToken(let request, _): provide(request)
    case .phoneReported(let report): reports.append(report)
    case .close: hasHungUp = true
    }
  }

  private func acknowledged(_ acknowledgement: Acknowledgement) {
    acknowledgements.append(acknowledgement)
    unacknowledged[acknowledgement.messageId] = nil
  }

  private func verify(_ request: ConnectRequest, at now: Instant) {
    requests.append(request)
    let isRefused = refusesIdentity || (refusesToken && request.baseToken != nil)
    let action =
      isRefused
      ? session.identityRefused(date: Timestamp(seconds: 0))
      : session.identityAccepted(
        request, baseToken: baseToken, tokenWasKnown: request.baseToken == baseToken, at: now,
        date: Timestamp(seconds: 0))
    switch action {
    case .nothing: break
    case .send(let bytes): output += bytes
    case .sendAndClose(let bytes, _): output += bytes
    }
  }

  private func provide(_ request: AppTokenRequest) {
    tokenRequests.append(request)
    if case .named(let context) = request.context { return provide(request, context) }
    if tokenRefusal == nil, tokens[request.topic] == nil {
      installs += 1
      tokens[request.topic] = DeviceToken(loading: 1000 + installs)
    }
    let token = tokenRefusal == nil ? tokens[request.topic] : nil
    output += AppTokenResponse(answering: request, with: token, refusal: tokenRefusal ?? 1).encoded
  }

  private func provide(_ request: AppTokenRequest, _ context: TokenContext) {
    let isGiven = contextRefusal == nil && !request.isOver
    if isGiven, contextTokens[context] == nil {
      installs += 1
      contextTokens[context] = DeviceToken(loading: 1000 + installs)
    }
    if request.isOver { contextTokens[context] = nil }
    output +=
      AppTokenResponse(
        answering: request, with: isGiven ? contextTokens[context] : nil,
        refusal: contextRefusal ?? AppTokenResponse.statusRemoved
      ).encoded
  }

  private func subscribe(_ subscription: ChannelSubscription) {
    subscriptions.append(subscription)
    guard confirmsChannels else { return }
    output += ChannelConfirmation(index: subscription.index, baseToken: baseToken).encoded
  }

  /// A provider pushes.
  func push(_ payload: String, to topic: TopicHash) {
    guard let token = tokens[topic] else { return }
    var message = CourierMessage(token: token, topic: topic, payload: Array(payload.utf8), messageId: nextId)
    (message.expiry, message.priority, message.storageFlags) = (CourierMessage.noExpiry, 10, 0)
    nextId += 1
    kept[topic] = message
  }

  /// What may go out now: answers, then messages whose topic is wanted.
  func takeOutput(at now: Instant) -> [UInt8] {
    guard !isStalled else { return [] }
    if session.isEstablished, pause.ends(by: now), let enabled = filters.last {
      for topic in enabled {
        guard let message = kept.removeValue(forKey: topic) else { continue }
        unacknowledged[message.messageId] = message
        output += message.encoded
      }
    }
    defer { output = [] }
    return output
  }

  /// The private command.
  func tell(_ change: AppStateChange) -> [UInt8] { session.isSimulated ? change.encoded : [] }

  /// The connection is gone: what was not acknowledged waits again.
  func connectionLost() {
    session.connectionClosed()
    for message in unacknowledged.values where kept[message.topic] == nil {
      var message = message
      message.storageFlags = CourierMessage.flagFromStore
      kept[message.topic] = message
    }
    unacknowledged = [:]
    for topic in kept.keys { kept[topic]?.storageFlags = CourierMessage.flagFromStore }
  }
}

extension DeviceToken {
  /// A token that differs from others by one word.
  init(loading word: UInt64) {
    self.init()
    words = (word, word, word, word)
  }
}
