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
