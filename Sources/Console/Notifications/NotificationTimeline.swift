import Broker
import PushModel

/// The steps that a notification has taken, in order of time.
///
/// A record keeps the last moment of each step, so a message that went to and fro between store and device shows its
/// last journey.
struct NotificationTimeline {
  private struct Step {
    var at: Timestamp
    var event: String
    var detail: String
  }

  private var steps: [Step]
  /// What the device's phone has made of it.
  private let phone: [PhoneStep]

  init(_ record: JournalRecord, _ detail: NotificationDetail? = nil, phone: [PhoneStep] = []) {
    self.phone = phone
    steps = [
      Step(at: record.receivedAt, event: "received", detail: "by the \(record.interface.name) interface")
    ]
    if let upstream = detail?.upstream {
      steps += Self.forwarded(record, upstream, detail?.explanation)
      return
    }
    if let fault = detail?.fault, record.rejection != nil, !fault.isAnswered {
      let what = "by the fault \(fault.name), \(fault.effect.text)"
      steps.append(Step(at: record.receivedAt, event: "swallowed", detail: what))
      return
    }
    if let rejection = record.rejection {
      steps.append(Step(at: record.receivedAt, event: "rejected", detail: rejection.reason))
      return
    }
    steps.append(Step(at: record.receivedAt, event: "verified", detail: "accepted"))
    steps.append(contentsOf: Self.journey(record))
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

  var json: JSONValue {
    .array(
      steps.map {
        ["at": .string($0.at.rfc3339), "event": .string($0.event), "detail": .string($0.detail)]
      } + phone.map(Self.document))
  }

  private static func document(_ step: PhoneStep) -> JSONValue {
    [
      "at": .string(step.at.rfc3339), "event": .string(step.event), "detail": .string(step.detail),
      "rule": .string(step.rule), "evidence": .string(step.evidence), "reason": .string(step.reason),
    ]
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
