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
