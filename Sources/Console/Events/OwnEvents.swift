import Basics
import Broker

/// Events in an order, numbered, as streams of them are written.
package protocol EventFeed: AnyObject {
  /// The oldest number that is still here.
  var firstNumber: UInt64 { get }
  /// The number that the next event gets.
  var nextNumber: UInt64 { get }
  /// Calls whenever there may be something new.
  func watch(_ watcher: @escaping () -> Void)
  /// Begins to remember.
  func turnOn()
  /// Name and document of an event; nil if there is nothing to tell of it.
  func describe(_ number: UInt64) -> (String, JSONValue)?
}

/// What happens in this emulator: the broker's events, and what others publish.
package final class OwnEvents: EventFeed {
  /// Events from outside the broker that are kept, as a count.
  private static let documentLimit = 2048

  private let broker: Broker
  private let now: () -> Timestamp
  /// Whether a notification came by another node, which tells of its steps, too.
  private let isOfOther: (_ notification: UInt64) -> Bool
  private var log: EventLog { broker.events }
  /// Streams of events, which are made after what they tell of: of a node alone, or of a cluster.
  private var watchers: [() -> Void] = []
  private var seen: UInt64 = 0
  /// What events of kind `other` say, by their subjects, from the first one on.
  private var documents = FIFO<(event: String, members: [(String, JSONValue)])>()
  private var firstDocument: UInt64 = 0

  package init(
    _ broker: Broker, now: @escaping () -> Timestamp,
    isOfOther: @escaping (_ notification: UInt64) -> Bool = { _ in false }
  ) {
    (self.broker, self.now, self.isOfOther) = (broker, now, isOfOther)
  }

  package func watch(_ watcher: @escaping () -> Void) { watchers.append(watcher) }

  /// The end of a turn of the loop: what has happened in it is told of.
  package func turnEnded() {
    guard log.nextNumber != seen else { return }
    seen = log.nextNumber
    for watcher in watchers { watcher() }
  }

  package var firstNumber: UInt64 { log.firstNumber }
  package var nextNumber: UInt64 { log.nextNumber }
  package func turnOn() { log.turnOn() }

  package func describe(_ number: UInt64) -> (String, JSONValue)? {
    guard let event = log[number], !(event.kind == .delivery && isOfOther(event.subject)) else { return nil }
    guard event.kind == .other else { return EventDocument(broker: broker).describe(event) }
    guard event.subject >= firstDocument, event.subject - firstDocument < documents.count else { return nil }
    let (name, members) = documents[Int(event.subject - firstDocument)]
    return (name, EventDocument.object(name, event.at, members))
  }

  /// Whether anybody has watched; until then nothing is remembered.
  package var isOn: Bool { log.isOn }

  /// Something has happened outside the broker. It may be behind the turn's end, and nothing else may wake the loop.
  package func publish(_ event: String, _ members: [(String, JSONValue)]) {
    guard log.isOn else { return }
    _ = log.append(subject: firstDocument + UInt64(documents.count), at: now())
    documents.append((event, members))
    if documents.count > Self.documentLimit {
      documents.removeFirst(leaving: ("", []))
      firstDocument += 1
    }
    for watcher in watchers { watcher() }
  }
}
