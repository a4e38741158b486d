import PushModel

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
struct MessageIDPolicy: RequestPolicy {
  func refusal(_ context: RequestContext) -> Refusal? {
    guard context.ownMessageID == nil else { return nil }
    for field in context.idFields {
      guard let value = context.message[field] else { continue }
      return Refusal(
        .badMessageId, rule: Rule.messageID(field), expected: "a UUID written 8-4-4-4-12",
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
