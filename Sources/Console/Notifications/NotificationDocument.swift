import Broker
import PushModel

/// A notification as the API shows it (`Documentation/console-api.md`).
struct NotificationDocument {
  let broker: Broker

  /// As in lists.
  func summary(_ record: JournalRecord) -> JSONValue { .object(members(record)) }

  /// By id: with the headers and the bytes as they came.
  func whole(_ record: JournalRecord) -> JSONValue {
    let raw = record.shownBytes
    let size = broker.journal.fullSize(record.id)?.raw
    return .object(
      members(record) + [
        ("headers", .array(record.fields.map { ["name": .string($0.name), "value": .string($0.value)] })),
        ("rawBase64", .string(Base64.encode(raw))), ("rawHex", .string(Hex.encode(raw))),
      ] + (size.map { [("rawSize", .integer(Int64($0)))] } ?? []))
  }

  private func members(_ record: JournalRecord) -> [(String, JSONValue)] {
    let detail = broker.journal.detail(record.id)
    let isFrame = record.interface == .gateway
    let node: [(String, JSONValue)] = broker.history.nodeName.map { [("node", .string($0))] } ?? []
    return [
      ("id", .integer(Int64(clamping: record.id))),
      ("receivedAt", .string(record.receivedAt.rfc3339)),
      ("interface", .string(record.interface.name)),
      ("command", isFrame ? .integer(Int64(record.command)) : .null),
      // Command 0 has no identifier (`Documentation/binary-protocol.md#frames`).
      ("identifier", isFrame && record.command > 0 ? .integer(Int64(record.identifier)) : .null),
      ("apnsId", .optional(record.messageID?.description)), ("topic", .optional(record.topicLabel(broker))),
      ("environment", .string(record.environment.name)),
      ("token", .string(Hex.encode(record.presentedToken))),
      ("udid", .optional(record.udid(broker)?.text)), ("pushType", .string(record.pushType.name)),
      ("priority", .integer(Int64(record.priority.rawValue))),
      ("expiration", .optional(record.expiration.map { Timestamp(seconds: Int64($0)) })),
      ("collapseId", .optional(Self.collapseId(record))),
      ("channelId", .optional(Self.channelId(record))),
      ("payload", JSONText.compact(record.payload).map(JSONValue.verbatim) ?? .null),
      ("payloadBase64", .string(Base64.encode(record.payload))),
      ("verdict", Self.verdict(record.rejection, detail)), ("state", .string(record.state.name)),
      (
        "timeline",
        NotificationTimeline(record, detail, phone: broker.journal.phoneSteps(record.id)).json
      ),
    ] + part(record) + node
  }

  /// Of a refused one that was too large the history has only the beginning.
  private func part(_ record: JournalRecord) -> [(String, JSONValue)] {
    guard let size = broker.journal.fullSize(record.id) else { return [] }
    return [("truncated", true), ("payloadSize", .integer(Int64(size.payload)))]
  }

  private static func collapseId(_ record: JournalRecord) -> String? {
    record.fields.first { $0.name == "apns-collapse-id" }?.value
  }

  /// Of a broadcast, which has a channel in the place of a device token (`Documentation/provider-api.md#broadcast`).
  private static func channelId(_ record: JournalRecord) -> String? {
    guard record.presentedToken.isEmpty,
      FieldBlock.value(of: ":path", in: record.fieldBlock).starts(with: "/4/broadcasts/".utf8)
    else { return nil }
    let id = FieldBlock.value(of: "apns-channel-id", in: record.fieldBlock)
    return id.isEmpty ? nil : String(decoding: id, as: UTF8.self)
  }

  private static func verdict(_ rejection: Rejection?, _ detail: NotificationDetail?) -> JSONValue {
    // Without an answer there is neither status nor reason to show.
    let isAnswered = rejection == nil || detail?.fault?.isAnswered != false
    let told = isAnswered ? rejection : nil
    let sentences = [told?.sentence, detail?.explanation].compactMap { $0 }
    return [
      "accepted": .bool(rejection == nil),
      "status": isAnswered ? .integer(Int64(told?.status ?? 200)) : .null,
      "reason": .optional(told?.reason),
      "legacyStatus": isAnswered ? .integer(Int64(told?.legacyStatus ?? 0)) : .null,
      "explanation": .optional(sentences.isEmpty ? nil : sentences.joined(separator: ": ")),
      "fault": detail?.fault.map { ["name": .string($0.name), "effect": $0.effect] } ?? .null,
    ]
  }
}

/// A record refers to rows by index; these are the names behind them.
extension JournalRecord {
  /// The topic pushed to, by its name where that is known; nil if none is.
  public func topicLabel(_ broker: Broker) -> String? {
    guard let topic, broker.registry.contains(topic) else { return nil }
    return broker.registry[topic].label
  }

  /// The device that the token is of; nil if the token is unknown.
  public func udid(_ broker: Broker) -> UDID? {
    guard let registration, broker.registry.contains(registration) else { return nil }
    return broker.registry[broker.registry[registration].device].udid
  }

  /// HTTP status of the verdict; nil if a fault left the provider without one.
  func status(_ broker: Broker) -> Int? { isAnswered(broker) ? rejection?.status ?? 200 : nil }

  /// Reason of the verdict; nil without one.
  func reason(_ broker: Broker) -> String? { isAnswered(broker) ? rejection?.reason : nil }

  private func isAnswered(_ broker: Broker) -> Bool {
    rejection == nil || broker.journal.detail(id)?.fault?.isAnswered != false
  }
}
