import PushModel

/// Pushes and broadcasts are POST (`Documentation/provider-api.md#order-of-checks` step 1).
struct MethodPolicy: RequestPolicy {
  func refusal(_ context: RequestContext) -> Refusal? {
    let method = context.message[.method]
    guard method.isSpelled("POST") else {
      return Refusal(
        .methodNotAllowed, rule: Rule.method, expected: "POST", got: .quoted(method))
    }
    return nil
  }
}

/// The path is a prefix and one more part, which may be empty as far as this rule goes
/// (`Documentation/provider-api.md#order-of-checks` step 1).
struct PathPolicy: RequestPolicy {
  /// Of pushes to a device (`Documentation/provider-api.md#request`).
  static let device = PathPolicy(prefix: "/3/device/", rest: "<token>", rule: Rule.path)
  /// Of broadcasts (`Documentation/provider-api.md#broadcast`).
  static let broadcast = PathPolicy(
    prefix: "/4/broadcasts/apps/", rest: "<bundle id>", rule: Rule.broadcastPath)

  let prefix: StaticString
  let rest: String
  let rule: Phrase

  func matches(_ message: HTTPMessage) -> Bool { message[.path].map { $0.hasPrefix(prefix) } ?? false }

  func refusal(_ context: RequestContext) -> Refusal? {
    let path = context.message[.path]
    if let path, path.hasPrefix(prefix) {
      let tail = UnsafeRawBufferPointer(rebasing: path[prefix.utf8CodeUnitCount...])
      if !tail.holds(UInt8(ascii: "/")) {
        context.pathTail = tail
        return nil
      }
    }
    return Refusal(
      .badPath, rule: rule, expected: "\(prefix)\(rest)", got: .quoted(path))
  }
}

/// There is a body, and it is not too large for the push type (`Documentation/provider-api.md#order-of-checks` step 7).
/// What is in it does not matter (`Documentation/provider-api.md#what-apns-looks-at`, `#open-questions`).
struct PayloadPolicy: RequestPolicy {
  /// A limit of its own (broadcasts); nil for the push type's.
  let limit: Int?

  func refusal(_ context: RequestContext) -> Refusal? {
    let count = context.message.bodyByteCount
    guard count > 0 else {
      return Refusal(.payloadEmpty, rule: Rule.payload, expected: "a JSON body", got: "0 bytes")
    }
    let limit = self.limit ?? Self.limit(context)
    guard count <= limit else {
      return Refusal(
        .payloadTooLarge, rule: Rule.payload, expected: "at most \(limit) bytes", got: "\(count) bytes")
    }
    return nil
  }

  /// A request without a push type is a VoIP push if its topic is one.
  private static func limit(_ context: RequestContext) -> Int {
    if let pushType = context.pushType { return pushType.maximumPayload }
    let isVoIP = context.topic?.topic.name.hasSuffix(PushType.voip.topicSuffix) ?? false
    return isVoIP ? Limits.voipPayload : Limits.providerPayload
  }
}

/// The device has not had too many pushes in a row (`Documentation/provider-api.md#order-of-checks` step 8).
struct FloodPolicy: RequestPolicy {
  let directory: any DeviceDirectory

  func refusal(_ context: RequestContext) -> Refusal? {
    guard let token = context.token, directory.isFlooded(token) else { return nil }
    return Refusal(
      .tooManyRequests, rule: Rule.flood, expected: "fewer in a row to this token",
      got: "one too many")
  }
}

/// One rule that a request has to keep.
protocol RequestPolicy {
  /// Why the request breaks the rule, or nil. What the rule read out of the request it leaves in the context.
  func refusal(_ context: RequestContext) -> Refusal?
}

/// Rules in the order in which they are applied; the first broken one is the answer.
struct PolicyList {
  var policies: [any RequestPolicy]

  func refusal(_ context: RequestContext) -> Refusal? {
    // By index, because a loop variable would be a copy of each policy.
    for index in policies.indices {
      if let refusal = policies[index].refusal(context) { return refusal }
    }
    return nil
  }

  /// Throws the first broken rule.
  func enforce(_ context: RequestContext) throws(Refusal) {
    if let refusal = refusal(context) { throw refusal }
  }
}

/// A broken rule.
struct Refusal: Error {
  var rejection: Rejection
  var explanation: Explanation
  var goneAt: Timestamp?

  init(_ rejection: Rejection, rule: Phrase, expected: Phrase, got: Phrase, goneAt: Timestamp? = nil) {
    self.init(rejection, Explanation(rule: rule, expected: expected, got: got), goneAt: goneAt)
  }

  init(_ rejection: Rejection, _ explanation: Explanation, goneAt: Timestamp? = nil) {
    (self.rejection, self.explanation, self.goneAt) = (rejection, explanation, goneAt)
  }
}

extension Refusal {
  /// The answer should no rule have read what the request needs. No list of rules lets that happen.
  static var unread: Refusal {
    Refusal(
      .internalServerError, rule: "order of checks", expected: "every part read", got: "a part left unread")
  }
}

/// No field that APNs reads comes twice (`Documentation/provider-api.md#order-of-checks` step 1).
struct RepeatedFieldPolicy: RequestPolicy {
  /// Fields that may come twice: APNs does not read them.
  private static let harmless = ProviderFieldSet(.contentType)

  func refusal(_ context: RequestContext) -> Refusal? {
    let message = context.message
    let repeated = message.repeated.subtracting(Self.harmless)
    guard !repeated.isEmpty || message.repeatsUnknownAPNsField else { return nil }
    let names = repeated.fields.map(\.name.description).joined(separator: ", ")
    return Refusal(
      .duplicateHeaders, rule: Rule.repeatedFields, expected: "each field at most once",
      got: names.isEmpty ? "an apns- field twice" : "\(names) twice")
  }
}

/// An id of the request's own is a UUID (`Documentation/provider-api.md#request`). It was read before; this is where a
/// bad one is answered (`Documentation/provider-api.md#order-of-checks` step 2).
struct APNSIDPolicy: RequestPolicy {
  func refusal(_ context: RequestContext) -> Refusal? {
    guard context.ownAPNSID == nil else { return nil }
    for field in context.idFields {
      guard let value = context.message[field] else { continue }
      return Refusal(
        .badMessageId, rule: Rule.apnsID(field), expected: "a UUID written 8-4-4-4-12",
        got: .quoted(value))
    }
    return nil
  }
}

/// `apns-push-type`, if given, is one of `Documentation/provider-api.md#push-types`
/// (`Documentation/provider-api.md#order-of-checks` step 4).
struct PushTypePolicy: RequestPolicy {
  private static let names = PushType.allCases.map(\.name).joined(separator: ", ")

  func refusal(_ context: RequestContext) -> Refusal? {
    guard let value = context.message[.apnsPushType] else { return nil }
    if value.isSpelled("alert") {
      context.pushType = .alert
      return nil
    }
    context.pushType = PushType(name: String(decoding: value, as: UTF8.self))
    guard context.pushType == nil else { return nil }
    return Refusal(
      .invalidPushType, rule: Rule.pushType, expected: "one of \(Self.names)",
      got: .quoted(value))
  }
}

/// `apns-priority` is 10, 5 or 1, and not 10 for a background push (`Documentation/provider-api.md#order-of-checks`
/// step 4).
struct PriorityPolicy: RequestPolicy {
  /// Whether a request must have one (broadcasts, `Documentation/provider-api.md#broadcast`).
  let isRequired: Bool

  func refusal(_ context: RequestContext) -> Refusal? {
    guard let value = context.message[.apnsPriority] else {
      return isRequired ? Self.refusal(got: "none") : nil
    }
    guard let priority = Self.read(value) else { return Self.refusal(got: .quoted(value)) }
    context.priority = priority
    if priority == .immediate, context.pushType == .background, context.options.refusesUrgentBackground {
      return Refusal(
        .badPriority, rule: Rule.backgroundPriority, expected: "5", got: "10")
    }
    return nil
  }

  private static func read(_ value: UnsafeRawBufferPointer) -> Priority? {
    if value.isSpelled("10") { return .immediate }
    if value.isSpelled("5") { return .conserving }
    return value.isSpelled("1") ? .low : nil
  }

  private static func refusal(got: Phrase) -> Refusal {
    Refusal(.badPriority, rule: Rule.priority, expected: "10, 5 or 1", got: got)
  }
}

/// `apns-expiration` is a number of UNIX seconds (`Documentation/provider-api.md#order-of-checks` step 4).
struct ExpirationPolicy: RequestPolicy {
  /// Whether a request must have one (broadcasts, `Documentation/provider-api.md#broadcast`).
  let isRequired: Bool
  /// Digits that surely fit 64 bits.
  private static let maximumDigits = 18

  func refusal(_ context: RequestContext) -> Refusal? {
    guard let value = context.message[.apnsExpiration] else {
      return isRequired ? Self.refusal(nil) : nil
    }
    guard let seconds = Self.read(value) else { return Self.refusal(value) }
    context.expiration = seconds
    return nil
  }

  private static func read(_ value: UnsafeRawBufferPointer) -> Int64? {
    guard !value.isEmpty, value.count <= maximumDigits else { return nil }
    var seconds: Int64 = 0
    for character in value {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(character) else { return nil }
      seconds = seconds * 10 + Int64(character - UInt8(ascii: "0"))
    }
    return seconds
  }

  private static func refusal(_ value: UnsafeRawBufferPointer?) -> Refusal {
    Refusal(
      .badExpirationDate, rule: Rule.expiration, expected: "UNIX seconds, or 0",
      got: .quoted(value))
  }
}

/// `apns-collapse-id` has at most 64 bytes (`Documentation/provider-api.md#order-of-checks` step 4).
struct CollapseIDPolicy: RequestPolicy {
  func refusal(_ context: RequestContext) -> Refusal? {
    guard let value = context.message[.apnsCollapseId] else { return nil }
    guard value.count <= Limits.collapseId else {
      return Refusal(
        .badCollapseId, rule: Rule.collapseID, expected: "at most \(Limits.collapseId) bytes",
        got: "\(value.count) bytes")
    }
    context.collapseID = value
    return nil
  }
}
