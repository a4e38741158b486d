import Broker
import PushModel

/// Makes the entries of the feedback service what a saved state says of them, bit by bit, in the order of the document. Entries of
/// rows that it does not tell of take their place before them.
struct FeedbackImport {
  private enum Stage { case finding, placing, settling }

  private var stage = Stage.finding
  private var index = 0
  /// Rows that the document tells of.
  private var told: Set<RegistrationID>
  /// Those of them that wait, in order, each once.
  private var entries: [RegistrationID] = []
  private var waiting: Set<RegistrationID> = []
  /// What waited before.
  private var taken: [RegistrationID] = []
  private var wasWaiting: Set<RegistrationID> = []

  /// `rows` are those of the document.
  init(rows: Set<RegistrationID>) { told = rows }

  /// Does a little; whether there is more to do. `rows` are those of the document by their tokens.
  mutating func step(_ tokens: [CustomToken], _ rows: [DeviceToken: RegistrationID], _ broker: Broker) -> Bool
  {
    switch stage {
    case .finding:
      if let token = next(tokens) { find(token, rows, broker) } else { take(broker) }
    case .placing:
      if let row = next(entries) { place(row, broker) } else { (stage, index) = (.settling, 0) }
    case .settling:
      guard let row = next(taken) else { return false }
      if !waiting.contains(row) { broker.feedback.settle(row) }
    }
    return true
  }

  private mutating func next<Element>(_ elements: [Element]) -> Element? {
    guard index < elements.count else { return nil }
    index += 1
    return elements[index - 1]
  }

  /// Of several nodes each takes its own.
  private mutating func find(_ token: CustomToken, _ rows: [DeviceToken: RegistrationID], _ broker: Broker) {
    let name = broker.registry.name(of: token)
    guard let row = rows[name] ?? broker.registry.find(name), broker.zones.leads(broker.registry[row].zone)
    else {
      return
    }
    told.insert(row)
    if waiting.insert(row).inserted { entries.append(row) }
  }

  private mutating func take(_ broker: Broker) {
    taken = broker.feedback.take(told)
    wasWaiting = Set(taken)
    (stage, index) = (.placing, 0)
  }

  /// It may have been reported gone meanwhile, and wait already.
  private func place(_ row: RegistrationID, _ broker: Broker) {
    if wasWaiting.contains(row) || !broker.registry[row].awaitsFeedback { broker.feedback.putBehind(row) }
  }
}
