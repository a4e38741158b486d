import PushModel

/// A request under examination: what is fixed for its connection, and what the rules have read so far.
/// One object serves all requests of a connection, one at a time.
final class RequestContext {
  let identity: ProviderIdentity
  /// What the identity has of it, which would have to be copied for each request to get at this.
  let tokenChecker: (any ProviderTokenChecking)?
  let environment: Environment
  let options: ProviderCheckOptions
  let apnsIDs: APNSIDGenerator
  /// Where a request names itself: the first of these that it has.
  let idFields: [ProviderField]
  var topics = TopicMemory()
  /// A request of this connection has shown a valid provider token.
  var hasAuthenticated = false

  private(set) var message: HTTPMessage
  private(set) var now = Timestamp(nanoseconds: 0)

  var ownAPNSID: APNSID?
  var grant: ProviderGrant?
  var pushType: PushType?
  var priority: Priority?
  var expiration: Int64?
  var collapseID = UnsafeRawBufferPointer(start: nil, count: 0)
  var topic: RememberedTopic?
  /// The last part of the path: token or bundle id.
  var pathTail = UnsafeRawBufferPointer(start: nil, count: 0)
  var token: DeviceToken?
  /// Where the token map has it.
  var registration: RegistrationID?
  var channel: (id: ChannelID, storage: ChannelStorage)?
  var waived: [Waiver] = []

  init(
    identity: ProviderIdentity, environment: Environment, options: ProviderCheckOptions,
    apnsIDs: APNSIDGenerator, idFields: [ProviderField]
  ) {
    (self.identity, self.environment, self.idFields) = (identity, environment, idFields)
    if case .token(let checker) = identity { tokenChecker = checker } else { tokenChecker = nil }
    (self.options, self.apnsIDs) = (options, apnsIDs)
    message = HTTPMessage()
  }

  private static var nothing: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }

  func begin(_ message: HTTPMessage, now: Timestamp) {
    (self.message, self.now) = (message, now)
    (grant, pushType, priority, expiration) = (nil, nil, nil, nil)
    (topic, token, channel, registration) = (nil, nil, nil, nil)
    (collapseID, pathTail) = (Self.nothing, Self.nothing)
    if !waived.isEmpty { waived = [] }
    // Read before anything can be refused, so that every answer can echo it
    // (`Documentation/provider-api.md#order-of-checks`).
    ownAPNSID = idFields.lazy.compactMap { message[$0] }.first.flatMap { APNSID($0) }
  }

  /// Enforces a rule about permission, unless the check is lenient.
  func enforce(_ refusal: Refusal) -> Refusal? {
    guard options.isLenient else { return refusal }
    waived.append(Waiver(rejection: refusal.rejection, explanation: refusal.explanation))
    return nil
  }

  /// The request's own id, else a new one.
  func apnsID() -> APNSID { ownAPNSID ?? apnsIDs.next() }

  func rejected(_ refusal: Refusal) -> RejectedRequest {
    RejectedRequest(
      refusal.rejection, apnsID: apnsID(), goneAt: refusal.goneAt, explanation: refusal.explanation)
  }

  /// Whether this provider may speak for `topic`.
  func allows(_ topic: Topic) -> Bool {
    switch identity {
    case .certificate(let certificate): certificate.covers(topic, pushType)
    case .token: grant?.covers(topic) ?? true
    }
  }
}

/// Comparisons of a peer's bytes with words of the protocol, without making text of either.
extension UnsafeRawBufferPointer {
  @inline(__always)
  func hasPrefix(_ word: StaticString, ignoringCase: Bool = false) -> Bool {
    guard count >= word.utf8CodeUnitCount else { return false }
    let letterBit: UInt8 = 0x20
    for index in 0..<word.utf8CodeUnitCount {
      let (ours, theirs) = (word.utf8Start[index], self[index])
      if ours == theirs { continue }
      let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(ours)
      guard ignoringCase, isLetter, theirs | letterBit == ours else { return false }
    }
    return true
  }

  @inline(__always)
  func isSpelled(_ word: StaticString, ignoringCase: Bool = false) -> Bool {
    count == word.utf8CodeUnitCount && hasPrefix(word, ignoringCase: ignoringCase)
  }
}

extension UnsafeRawBufferPointer? {
  @inline(__always)
  func isSpelled(_ word: StaticString, ignoringCase: Bool = false) -> Bool {
    self?.isSpelled(word, ignoringCase: ignoringCase) ?? false
  }
}
