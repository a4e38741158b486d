import Basics
import Broker

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

  private(set) var steps: [Step]

  init(_ record: JournalRecord, _ detail: NotificationDetail? = nil, phone: [PhoneStep] = []) {
    steps = [
      Step(at: record.receivedAt, event: "received", detail: "by the \(record.interface.name) interface")
    ]
    if let upstream = detail?.upstream {
      steps += Self.forwarded(record, upstream, detail?.explanation)
    } else if let fault = detail?.fault, record.rejection != nil, !fault.isAnswered {
      let what = "by the fault \(fault.name), \(fault.effect.text)"
      steps.append(Step(at: record.receivedAt, event: "swallowed", detail: what))
    } else if let rejection = record.rejection {
      steps.append(Step(at: record.receivedAt, event: "rejected", detail: rejection.reason))
    } else {
      steps.append(Step(at: record.receivedAt, event: "verified", detail: "accepted"))
      steps += Self.journey(record)
    }
    steps += phone.map { Step(at: $0.at, event: $0.event, detail: $0.detail, phone: $0) }
  }

  /// On to another service, which decides, and its answer.
  private static func forwarded(_ record: JournalRecord, _ upstream: String, _ answer: String?) -> [Step] {
    var steps: [Step] = []
    if record.sentAt != .never {
      steps.append(Step(at: record.sentAt, event: "sent", detail: "to \(upstream)"))
    }
    guard record.endedAt != .never else { return steps }
    let event = record.state == .delivered ? "acknowledged" : record.state.name
    return steps + [Step(at: record.endedAt, event: event, detail: answer ?? "by \(upstream)")]
  }

  /// Store and device, in the order of their times, and what ended it.
  private static func journey(_ record: JournalRecord) -> [Step] {
    var steps: [Step] = []
    if record.storedAt != .never {
      steps.append(Step(at: record.storedAt, event: "stored", detail: "kept until the device returns"))
    }
    if record.sentAt != .never {
      let sent = Step(at: record.sentAt, event: "sent", detail: "handed to the device's connection")
      // Back in the store after it had been sent: the connection ended before the device acknowledged it.
      let wasReturned =
        record.storedAt != .never && (record.state == .stored || record.storedAt > record.sentAt)
      steps.insert(sent, at: wasReturned ? 0 : steps.count)
    }
    if let end = ending(record) { steps.append(end) }
    return steps
  }

  private static func ending(_ record: JournalRecord) -> Step? {
    guard record.endedAt != .never else { return nil }
    switch record.state {
    case .delivered: return Step(at: record.endedAt, event: "acknowledged", detail: "by the device")
    case .replaced:
      return Step(
        at: record.endedAt, event: "replaced", detail: "a newer one for the same token took its place")
    case .expired:
      return Step(at: record.endedAt, event: "expired", detail: "its time ran out before the device came")
    case .discarded:
      return Step(at: record.endedAt, event: "discarded", detail: "not to be kept, or the app is gone")
    case .rejected, .stored, .sent: return nil
    }
  }
}
