import Basics
import Broker
import ConsoleAnswers
import PushModel

/// A notification as the API shows it (`Documentation/console-api.md`).
struct NotificationDocument: JSONAnswer {
  private let record: JournalRecord
  private let broker: Broker
  private let detail: NotificationDetail?
  /// Of a refused one that was too large the history has only the beginning: what it was, in bytes.
  private let full: FullSize?

  init(_ record: JournalRecord, _ broker: Broker) {
    (self.record, self.broker) = (record, broker)
    (detail, full) = (broker.journal.detail(record.id), broker.journal.fullSize(record.id))
  }

  /// As in lists.
  static let shape = members.named("Notification")

  /// By id: with the headers and the bytes as they came.
  static let whole = JSONShape<NotificationDocument>(
    members + [
      "headers": .list(of: header) { $0.record.fields },
      "rawBase64": .show(JSONExample.payloadBase64) { Base64.encode($0.record.shownBytes) },
      "rawHex": .show("7b22617073223a7b22616c657274223a2248656c6c6f227d7d") {
        Hex.encode($0.record.shownBytes)
      }, "rawSize": .maybe(words: size("`rawBase64`")) { $0.full?.raw },
    ]
  ).named("NotificationDetail")

  private static let members: JSONShape<NotificationDocument> =
    address + [
      "payload": .payload { Array($0.record.payload) },
      "payloadBase64": .payloadBase64 { Array($0.record.payload) },
      "verdict": .show { Verdict(rejection: $0.record.rejection, detail: $0.detail) },
      "state": .show("delivered") { $0.record.state },
      "timeline": .show(NotificationTimeline.example) {
        NotificationTimeline($0.record, $0.detail, phone: $0.broker.journal.phoneSteps($0.record.id)).steps
      },
      "truncated": .maybe(words: truncation) { $0.full.map { _ in true } },
      "payloadSize": .maybe(words: size("the payload")) { $0.full?.payload },
      "node": .maybe(words: node) { $0.broker.history.nodeName },
    ]

  private static let address: JSONShape<NotificationDocument> = [
    "id": .show(1) { $0.record.id }, "receivedAt": .show { $0.record.receivedAt },
    "interface": .show("provider") { $0.record.interface },
    "command": .show { $0.isFrame ? $0.record.command : nil },
    // Command 0 has no identifier (`Documentation/binary-protocol.md#frames`).
    "identifier": .show { $0.isFrame && $0.record.command > 0 ? $0.record.identifier : nil },
    "apnsId": .show("EC1BF194-B3B2-424B-89A9-5A918A6E6B5C") { $0.record.apnsID?.description },
    "topic": .show(JSONExample.topic) { $0.record.topicLabel($0.broker) },
    "environment": .show { $0.record.environment },
    "token": .show(JSONExample.token) { Hex.encode($0.record.presentedToken) },
    "udid": .show(JSONExample.udid) { $0.record.udid($0.broker)?.text },
    "pushType": .show("alert") { $0.record.pushType },
    "priority": .show(10) { $0.record.priority.rawValue },
    "expiration": .show { $0.record.expiration.map { Timestamp(seconds: Int64($0)) } },
    "collapseId": .show { shown in shown.record.fields.first { $0.name == "apns-collapse-id" }?.value },
    "channelId": .show { $0.channelId },
  ]

  private static let header: JSONShape<(name: String, value: String)> = [
    "name": .show("apns-topic") { $0.name }, "value": .show(JSONExample.topic) { $0.value },
  ]

  private static let truncation =
    "The push was rejected, and its payload is larger than the limit: payload and raw bytes are only the beginning."
  private static let node = "In a cluster, the node that received it and has it in its history."

  private static func size(_ what: String) -> String { "Where `truncated`: bytes of \(what) as it came." }

  private var isFrame: Bool { record.interface == .gateway }

  /// Of a broadcast, which has a channel in the place of a device token (`Documentation/provider-api.md#broadcast`).
  private var channelId: String? {
    let block = record.fieldBlock
    guard record.presentedToken.isEmpty,
      FieldBlock.value(of: ":path", in: block).begins(with: "/4/broadcasts/")
    else { return nil }
    let id = FieldBlock.value(of: "apns-channel-id", in: block)
    return id.isEmpty ? nil : id.text
  }
}

/// What the provider was told.
struct Verdict: JSONAnswer {
  let rejection: Rejection?
  let detail: NotificationDetail?

  static let shape: JSONShape<Verdict> = [
    "accepted": .show(true) { $0.rejection == nil },
    "status": .show(200) { $0.status }, "reason": .show { $0.reason },
    "legacyStatus": .show(0) { $0.isAnswered ? $0.told?.legacyStatus ?? 0 : nil },
    "explanation": .show { verdict in
      let sentences = [verdict.told?.sentence, verdict.detail?.explanation].compactMap { $0 }
      return sentences.isEmpty ? nil : sentences.joined(separator: ": ")
    }, "fault": .show { $0.detail?.fault },
  ]

  /// Of HTTP. Where a fault left the provider without an answer there is neither status nor reason.
  var status: Int? { isAnswered ? told?.status ?? 200 : nil }
  var reason: String? { told?.reason }

  private var isAnswered: Bool { detail?.fault?.isAnswered != false }
  private var told: Rejection? { isAnswered ? rejection : nil }
}

extension NotificationState: JSONWord {}

extension InjectedFault: JSONAnswer {
  public static let shape: JSONShape<InjectedFault> = [
    "name": .show { $0.name },
    "effect": .show([:], as: .any.described(as: ["type": "object"])) { $0.effect },
  ]
}

extension GrowingDocument.Element {
  package static func notification(_ record: JournalRecord, _ broker: Broker) -> GrowingDocument.Element {
    .value(NotificationDocument(record, broker).json)
  }
}

/// The payload of a push, as it shows in documents.
extension JSONMember {
  /// Null where it is not JSON.
  static func payload(_ get: @escaping @Sendable (Root) -> [UInt8]) -> JSONMember {
    show(JSONExample.payload) { JSONText.compact(get($0)).map(JSONValue.verbatim) ?? .null }
  }

  static func payloadBase64(_ get: @escaping @Sendable (Root) -> [UInt8]) -> JSONMember {
    show(JSONExample.payloadBase64) { Base64.encode(get($0)) }
  }
}

/// A record refers to rows by index; these are the names behind them.
extension JournalRecord {
  /// The topic pushed to, by its name where that is known; nil if none is.
  package func topicLabel(_ broker: Broker) -> String? {
    guard let topic, broker.registry.contains(topic) else { return nil }
    return broker.registry[topic].label
  }

  /// The device that the token is of; nil if the token is unknown.
  package func udid(_ broker: Broker) -> UDID? {
    guard let registration, broker.registry.contains(registration) else { return nil }
    return broker.registry[broker.registry[registration].device].udid
  }

  func verdict(_ broker: Broker) -> Verdict {
    Verdict(rejection: rejection, detail: rejection.flatMap { _ in broker.journal.detail(id) })
  }
}

/// The steps that a notification has taken, in order of time.
///
/// A record keeps the last moment of each step, so a message that went to and fro between store and device shows its
/// last journey.
struct NotificationTimeline {
  struct Step: JSONAnswer {
    fileprivate var at: Timestamp
    fileprivate var event: String
    fileprivate var detail: String
    /// What the device's phone has made of it, and why.
    fileprivate var phone: PhoneStep?

    static let shape: JSONShape<Step> = [
      "at": .show { $0.at }, "event": .show("received") { $0.event },
      "detail": .show("by the provider interface") { $0.detail }, "rule": .maybe { $0.phone?.rule },
      "evidence": .maybe { $0.phone?.evidence }, "reason": .maybe { $0.phone?.reason },
    ]
  }

  /// Of one that its device has acknowledged.
  static let example = JSONValue.array(
    [
      ("received", "by the provider interface"), ("verified", "accepted"),
      ("sent", "handed to the device's connection"), ("acknowledged", "by the device"),
    ].map { ["at": JSONExample.now, "event": .string($0), "detail": .string($1)] })

  private(set) var steps: [Step] = []

  init(_ record: JournalRecord, _ detail: NotificationDetail? = nil, phone: [PhoneStep] = []) {
    add(record.receivedAt, "received", "by the \(record.interface.name) interface")
    if let upstream = detail?.upstream {
      addForwarded(record, upstream, detail?.explanation)
    } else if let fault = detail?.fault, record.rejection != nil, !fault.isAnswered {
      add(record.receivedAt, "swallowed", "by the fault \(fault.name), \(fault.effect.text)")
    } else if let rejection = record.rejection {
      add(record.receivedAt, "rejected", rejection.reason)
    } else {
      add(record.receivedAt, "verified", "accepted")
      addJourney(record)
    }
    steps += phone.map { Step(at: $0.at, event: $0.event, detail: $0.detail, phone: $0) }
  }

  /// If it was taken.
  private mutating func add(_ at: Timestamp, _ event: String, _ detail: String) {
    if at != .never { steps.append(Step(at: at, event: event, detail: detail)) }
  }

  /// On to another service, which decides, and its answer.
  private mutating func addForwarded(_ record: JournalRecord, _ upstream: String, _ answer: String?) {
    add(record.sentAt, "sent", "to \(upstream)")
    let event = record.state == .delivered ? "acknowledged" : record.state.name
    add(record.endedAt, event, answer ?? "by \(upstream)")
  }

  /// Store and device, in the order of their times, and what ended it.
  private mutating func addJourney(_ record: JournalRecord) {
    var steps = [
      (record.storedAt, "stored", "stored until the device is online"),
      (record.sentAt, "sent", "handed to the device's connection"),
    ]
    // Back in the store after it had been sent: the connection ended before the device acknowledged it.
    if record.state == .stored || record.storedAt > record.sentAt { steps.reverse() }
    if let (event, detail) = Self.endings[record.state] { steps.append((record.endedAt, event, detail)) }
    for (at, event, detail) in steps { add(at, event, detail) }
  }

  private static let endings: [NotificationState: (event: String, detail: String)] = [
    .delivered: ("acknowledged", "by the device"),
    .replaced: ("replaced", "by a newer one for the same token"),
    .expired: ("expired", "before the device was online"),
    .discarded: ("discarded", "not to be stored, or the app is gone"),
  ]
}
