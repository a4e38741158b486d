import Basics
import PushModel

/// A request under examination: what is fixed for its connection, what has been read of it so far, and the rules that push and
/// broadcast share. Each rule throws why the request breaks it; who judges calls them in Apple's order. One serves all requests of
/// a connection, one at a time.
struct RequestContext {
  let identity: ProviderIdentity
  /// What the identity has of it, which would have to be copied for each request to get at this.
  let tokenChecker: (any ProviderTokenChecking)?
  let environment: Environment
  let options: ProviderCheckOptions
  let apnsIDs: APNSIDGenerator
  /// Where a request names itself: the first of these that it has.
  let idFields: [ProviderField]
  /// A request of this connection has shown a valid provider token.
  var hasAuthenticated = false

  private(set) var now = Timestamp(nanoseconds: 0)

  private var ownAPNSID: APNSID?
  var grant: ProviderGrant?
  var pushType: PushType?
  var priority: Priority?
  var expiration: Int64?
  var topic: RememberedTopic?
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
  }

  mutating func begin(_ message: HTTPMessage, now: Timestamp) {
    self.now = now
    (grant, pushType, priority, expiration) = (nil, nil, nil, nil)
    (topic, token, channel, registration) = (nil, nil, nil, nil)
    if !waived.isEmpty { waived = [] }
    // Read before anything can be refused, so that every answer can echo it
    // (`Documentation/provider-api.md#order-of-checks`).
    ownAPNSID = idField(of: message).flatMap { message[$0].flatMap { APNSID($0) } }
  }

  private func idField(of message: HTTPMessage) -> ProviderField? { idFields.first { message[$0] != nil } }

  /// Enforces a rule about permission, unless the check is lenient.
  mutating func enforce(_ refusal: Refusal) throws(Refusal) {
    guard options.isLenient else { throw refusal }
    waived.append(Waiver(rejection: refusal.rejection, explanation: refusal.explanation))
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

/// What a request says of itself.
extension RequestContext {
  /// Pushes and broadcasts are POST (`Documentation/provider-api.md#order-of-checks` step 1).
  func checkMethod(of message: HTTPMessage) throws(Refusal) {
    let method = message[.method]
    guard let method, method.spells("POST") else {
      throw Refusal(.methodNotAllowed, rule: Rule.method, expected: "POST", got: .quoted(method))
    }
  }

  /// The path is a prefix and one more part, which may be empty as far as this rule goes
  /// (`Documentation/provider-api.md#order-of-checks` step 1). Answers that part: token or bundle id.
  @_lifetime(borrow message)
  func readPath(_ form: RequestPath, of message: HTTPMessage) throws(Refusal) -> Span<UInt8> {
    let path = message[.path]
    if let path, path.begins(with: form.prefix) {
      let tail = path.dropping(form.prefix.utf8CodeUnitCount)
      if !tail.holds(UInt8(ascii: "/")) { return tail }
    }
    throw Refusal(.badPath, rule: form.rule, expected: "\(form.prefix)\(form.rest)", got: .quoted(path))
  }

  /// No field that APNs reads comes twice (`Documentation/provider-api.md#order-of-checks` step 1). A content type may, as APNs does
  /// not read it.
  func checkRepeatedFields(of message: HTTPMessage) throws(Refusal) {
    let repeated = message.repeated.subtracting(ProviderFieldSet(.contentType))
    guard !repeated.isEmpty || message.repeatsUnknownAPNsField else { return }
    let names = repeated.fields.map(\.name.description).joined(separator: ", ")
    throw Refusal(
      .duplicateHeaders, rule: Rule.repeatedFields, expected: "each field at most once",
      got: names.isEmpty ? "an apns- field twice" : "\(names) twice")
  }

  /// An id of the request's own is a UUID (`Documentation/provider-api.md#request`). It was read before; this is where a
  /// bad one is answered (`Documentation/provider-api.md#order-of-checks` step 2).
  func checkAPNSID(of message: HTTPMessage) throws(Refusal) {
    guard ownAPNSID == nil, let field = idField(of: message) else { return }
    throw Refusal(
      .badMessageId, rule: Rule.apnsID(field), expected: "a UUID written 8-4-4-4-12",
      got: .quoted(message[field]))
  }

  /// `apns-push-type`, if given, is one of `Documentation/provider-api.md#push-types`
  /// (`Documentation/provider-api.md#order-of-checks` step 4).
  mutating func readPushType(of message: HTTPMessage) throws(Refusal) {
    guard let value = message[.apnsPushType] else { return }
    pushType = PushType(value)
    guard pushType == nil else { return }
    let names = PushType.allCases.map(\.name).joined(separator: ", ")
    throw Refusal(.invalidPushType, rule: Rule.pushType, expected: "one of \(names)", got: .quoted(value))
  }

  /// `apns-priority` is 10, 5 or 1, and not 10 for a background push (`Documentation/provider-api.md#order-of-checks`
  /// step 4). Broadcasts must have one (`Documentation/provider-api.md#broadcast`).
  mutating func readPriority(of message: HTTPMessage, isRequired: Bool = false) throws(Refusal) {
    guard let value = message[.apnsPriority] else {
      guard isRequired else { return }
      throw Refusal(.badPriority, rule: Rule.priority, expected: "10, 5 or 1", got: "none")
    }
    if value.spells("10") {
      priority = .immediate
    } else if value.spells("5") {
      priority = .conserving
    } else if value.spells("1") {
      priority = .low
    } else {
      throw Refusal(.badPriority, rule: Rule.priority, expected: "10, 5 or 1", got: .quoted(value))
    }
    if priority == .immediate, pushType == .background, options.refusesUrgentBackground {
      throw Refusal(.badPriority, rule: Rule.backgroundPriority, expected: "5", got: "10")
    }
  }

  /// Digits that surely fit 64 bits.
  private static let maximumDigits = 18

  /// `apns-expiration` is a number of UNIX seconds (`Documentation/provider-api.md#order-of-checks` step 4). Broadcasts must have one
  /// (`Documentation/provider-api.md#broadcast`).
  mutating func readExpiration(of message: HTTPMessage, isRequired: Bool = false) throws(Refusal) {
    let value = message[.apnsExpiration]
    expiration = value.flatMap { Self.seconds($0) }
    guard expiration == nil, isRequired || value != nil else { return }
    throw Refusal(
      .badExpirationDate, rule: Rule.expiration, expected: "UNIX seconds, or 0", got: .quoted(value))
  }

  private static func seconds(_ value: Span<UInt8>) -> Int64? {
    var cursor = JSONCursor(value)
    guard value.count <= maximumDigits, let seconds = cursor.wholeAtOnce(), cursor.isAtEnd else { return nil }
    return Int64(seconds)
  }

  /// `apns-collapse-id` has at most 64 bytes (`Documentation/provider-api.md#order-of-checks` step 4).
  func checkCollapseID(of message: HTTPMessage) throws(Refusal) {
    guard let value = message[.apnsCollapseId], value.count > Limits.collapseId else { return }
    throw Refusal(
      .badCollapseId, rule: Rule.collapseID, expected: "at most \(Limits.collapseId) bytes",
      got: "\(value.count) bytes")
  }

  /// There is a body, and it is not too large (`Documentation/provider-api.md#order-of-checks` step 7). What is in it does not matter
  /// (`Documentation/provider-api.md#what-apns-looks-at`, `#open-questions`).
  func checkPayload(of message: HTTPMessage, limit: Int) throws(Refusal) {
    let count = message.bodyByteCount
    guard count > 0 else {
      throw Refusal(.payloadEmpty, rule: Rule.payload, expected: "a JSON body", got: "0 bytes")
    }
    guard count <= limit else {
      throw Refusal(
        .payloadTooLarge, rule: Rule.payload, expected: "at most \(limit) bytes", got: "\(count) bytes")
    }
  }
}

/// Who it is from: the provider is somebody (`Documentation/provider-api.md#order-of-checks` step 3; `#environment-mismatch`,
/// `#provider-tokens`). A certificate was verified by TLS; a token is verified here.
extension RequestContext {
  mutating func authenticate(_ message: HTTPMessage) throws(Refusal) {
    if let tokenChecker { return try check(message, tokenChecker) }
    if case .certificate(let certificate) = identity { try check(certificate) }
  }

  private mutating func check(_ certificate: ProviderCertificate) throws(Refusal) {
    if let waiver = certificate.waiver { waived.append(waiver) }
    if certificate.standing?.isRevoked == true {
      try enforce(
        Refusal(
          .badCertificate, rule: Rule.certificate, expected: "a certificate that has not been revoked",
          got: "one that was revoked after its handshake"))
    }
    guard !certificate.topics.isEmpty else {
      return try enforce(
        Refusal(
          .badCertificate, rule: Rule.certificate, expected: "a topic in its extension or subject UID",
          got: "none"))
    }
    guard !certificate.environments.contains(environment) else { return }
    let names = certificate.environments.map(\.name).sorted().joined(separator: " and ")
    try enforce(
      Refusal(
        .badCertificateEnvironment, rule: Rule.certificateEnvironment, expected: Phrase(environment.name),
        got: names.isEmpty ? "none" : Phrase(names)))
  }

  private mutating func check(_ message: HTTPMessage, _ checker: any ProviderTokenChecking) throws(Refusal) {
    guard let value = message[.authorization] else { return try lacksToken(got: "no authorization") }
    guard let token = Self.bearerToken(value) else {
      return try lacksToken(got: "an authorization of another scheme or without a token")
    }
    switch checker.check(token, now: now) {
    case .granted(let grant):
      self.grant = grant
      hasAuthenticated = true
      if let waiver = grant.waiver { waived.append(waiver) }
    case .refused(let rejection, let explanation): try enforce(Refusal(rejection, explanation))
    }
  }

  /// What follows `bearer` in any letter case (`Documentation/provider-api.md#request`), blanks around it left out.
  @_lifetime(copy value)
  private static func bearerToken(_ value: Span<UInt8>) -> Span<UInt8>? {
    let scheme: StaticString = "bearer "
    guard value.begins(inAnyCaseWith: scheme) else { return nil }
    let blank = UInt8(ascii: " ")
    var (start, end) = (scheme.utf8CodeUnitCount, value.count)
    while start < end, value[start] == blank { start += 1 }
    while start < end, value[end - 1] == blank { end -= 1 }
    return start == end ? nil : value.extracting(start..<end)
  }

  private mutating func lacksToken(got: Phrase) throws(Refusal) {
    try enforce(
      Refusal(
        .missingProviderToken, rule: Rule.authorization,
        expected: "\"bearer\" and a provider token, or a client certificate", got: got))
  }
}

/// What requests about channels name: the bundle id of their path, and `apns-channel-id`.
extension RequestContext {
  /// The bundle id in the path is one, without a push type's suffix, this provider's, and enabled for broadcasts
  /// (`Documentation/provider-api.md#channel-reasons`).
  mutating func readBundle(_ name: Span<UInt8>, in directory: any ChannelDirectory) throws(Refusal) {
    guard let bundle = Topic(name.text) else {
      throw Refusal(.badPath, rule: Rule.bundle, expected: "a bundle id", got: .quoted(name))
    }
    if let suffix = PushType.topicSuffixes.first(where: { bundle.name.hasSuffix($0) }) {
      throw Refusal(
        .topicDisallowed, rule: Rule.bundle, expected: "a bundle id without \(suffix)",
        got: Phrase(bundle.name))
    }
    topic = RememberedTopic(topic: bundle, handle: nil)
    if !allows(bundle) {
      try enforce(
        Refusal(
          .topicMismatch, rule: Rule.bundle, expected: Phrase(identity.coverage(grant)),
          got: Phrase(bundle.name)))
    }
    guard directory.isBroadcastEnabled(bundle, environment) else {
      throw Refusal(
        .featureNotEnabled, rule: Rule.bundle, expected: "a bundle id with the broadcast capability",
        got: Phrase(bundle.name))
    }
  }

  /// `apns-channel-id` names a channel of the bundle id (`Documentation/provider-api.md#channel-management`,
  /// `#broadcast`, `#channel-reasons`).
  mutating func readChannel(of message: HTTPMessage, in directory: any ChannelDirectory) throws(Refusal) {
    guard let value = message[.apnsChannelId], !value.isEmpty else {
      throw Refusal(.missingChannelId, rule: Rule.channelID, expected: "a channel id", got: "none")
    }
    guard let id = ChannelID(value) else {
      throw Refusal(
        .badChannelId, rule: Rule.channelID,
        expected: "base64, at most \(ChannelID.maximumByteCount) characters", got: .quoted(value))
    }
    guard let bundle = topic?.topic else { return }
    guard let storage = directory.storage(of: id, bundle, environment) else {
      throw Refusal(
        .channelNotRegistered, rule: Rule.channelID,
        expected: "a channel of \(bundle.name) in \(environment.name)", got: .quoted(value))
    }
    channel = (id, storage)
  }
}

/// What stands before the last part of a path.
enum RequestPath {
  /// Of pushes to a device (`Documentation/provider-api.md#request`).
  case device
  /// Of broadcasts (`Documentation/provider-api.md#broadcast`).
  case broadcast

  var prefix: StaticString { self == .device ? "/3/device/" : "/4/broadcasts/apps/" }
  var rest: String { self == .device ? "<token>" : "<bundle id>" }
  var rule: Phrase { self == .device ? Rule.path : Rule.broadcastPath }
}
