import Basics
import PushModel

/// The body that makes a channel: `{"message-storage-policy":1,"push-type":"LiveActivity"}`
/// (`Documentation/provider-api.md#channel-management`).
enum ChannelConfiguration {
  /// The only push type that can be broadcast; compared without case, as Apple prints it in several
  /// (`Documentation/provider-api.md#broadcast`, `#open-questions`).
  static let pushType: StaticString = "liveactivity"

  /// What a body may have. Anything else is an attribute that Apple does not recognize.
  private static let memberNames = ["message-storage-policy", "push-type"]

  /// The storage policy that the body asks for, or what is wrong with it.
  ///
  /// A storage policy that is none has a reason of its own that Apple does not document
  /// (`Documentation/provider-api.md#channel-reasons`).
  static func read(
    _ body: Span<UInt8>, byteCount: Int, options: ProviderCheckOptions
  ) throws(Refusal) -> ChannelStorage {
    guard byteCount > 0 else { throw refusal(.payloadEmpty, "a JSON body", "0 bytes") }
    guard byteCount <= Limits.broadcastPayload else {
      throw refusal(.payloadTooLarge, "at most \(Limits.broadcastPayload) bytes", "\(byteCount) bytes")
    }
    guard let value = JSONReader.read(Array(body)), case .object(let members) = value else {
      throw refusal(.badRequestPayload, "a JSON object", .quoted(body))
    }
    if let (name, _) = members.first(where: { !memberNames.contains($0.0) }) {
      throw refusal(
        .badRequestParams, Phrase("no members but \(memberNames.joined(separator: " and "))"),
        .quoted(.string(name)))
    }
    try checkPushType(value)
    guard case .integer(let number)? = value.member("message-storage-policy"),
      let storage = Int(exactly: number).flatMap(ChannelStorage.init)
    else {
      let reason = options.usesDocumentedReasons ? Rejection.badRequestPayload : .missingChannelQueueSize
      throw refusal(reason, "message-storage-policy 0 or 1", .quoted(body))
    }
    return storage
  }

  private static func checkPushType(_ value: JSONValue) throws(Refusal) {
    guard let type = value.member("push-type") else { throw refusal(.missingPushType, "push-type", "none") }
    guard case .string(let name) = type, name.lowercased() == pushType.description else {
      throw refusal(.invalidPushType, "LiveActivity", .quoted(type))
    }
  }

  private static func refusal(_ rejection: Rejection, _ expected: Phrase, _ got: Phrase) -> Refusal {
    Refusal(rejection, rule: Rule.channelConfiguration, expected: expected, got: got)
  }
}
