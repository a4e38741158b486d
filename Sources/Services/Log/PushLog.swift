import Basics
import Broker

/// One log line for each push, written after the turn's commit from what the journal remembers.
public final class PushLog {
  private let broker: Broker
  private let logger: Logger
  private var nextId: UInt64 = 1

  public init(broker: Broker, logger: Logger) {
    (self.broker, self.logger) = (broker, logger)
    nextId = broker.journal.nextId
  }

  /// Writes a line for each notification that came since the last call and before the one with the id `end`.
  public func writeNew(before end: UInt64) {
    guard end > nextId else { return }
    defer { nextId = end }
    guard logger.isOn(.info) else { return }
    // What the history has lost since then is not told of.
    let first = min(end, max(nextId, broker.journal.firstId))
    let count = min(Int(end - first), logger.room())
    for id in first..<first + UInt64(count) { write(id) }
    logger.countSuppressed(Int(end - nextId) - count)
  }

  private func write(_ id: UInt64) {
    guard let record = broker.journal[id] else { return }
    var fields: [(String, JSONValue)] = [
      ("id", .integer(Int64(id))), ("interface", .string(record.interface.name)),
    ]
    if record.interface == .gateway {
      fields.append(("command", .integer(Int64(record.command))))
      fields.append(("identifier", .integer(Int64(record.identifier))))
    }
    if let topic = record.topic, broker.registry.contains(topic) {
      fields.append(("topic", .string(broker.registry[topic].label)))
    }
    fields.append(("token", .string(ShortToken.text(record.presentedToken))))
    let size = broker.journal.fullSize(id)?.payload ?? record.payload.count
    fields.append(("bytes", .integer(Int64(size))))
    let (sentence, outcome) = outcome(record)
    logger.log(.info, sentence, fields + outcome)
  }

  private func outcome(_ record: JournalRecord) -> (String, [(String, JSONValue)]) {
    guard let rejection = record.rejection else { return ("push", [("state", .string(record.state.name))]) }
    let detail = broker.journal.detail(record.id)
    let because = [
      ("because", JSONValue.string(ShortToken.shortening(in: detail?.explanation ?? rejection.sentence)))
    ]
    if detail?.fault?.isAnswered == false { return ("push not answered", because) }
    return ("push rejected", [("reason", .string(rejection.reason))] + because)
  }
}
