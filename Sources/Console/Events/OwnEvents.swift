import Basics
import Broker

/// Events in an order, numbered, as streams of them are written.
protocol EventFeed: AnyObject {
  /// The oldest number that is still here.
  var firstNumber: UInt64 { get }
  /// The number that the next event gets.
  var nextNumber: UInt64 { get }
  /// Begins to remember.
  func turnOn()
  /// Name and document of an event; nil if there is nothing to tell of it.
  func describe(_ number: UInt64) -> (String, JSONValue)?
}

/// What happens in this emulator: the broker's events, and what others publish.
final class OwnEvents: EventFeed {
  /// Events from outside the broker that are kept, as a count.
  private static let documentLimit = 2048

  private let context: ConsoleContext
  private var log: EventLog { context.broker.events }
  /// What events of kind `other` say, by their subjects, from the first one on.
  private var documents = FIFO<(event: String, members: [(String, JSONValue)])>()
  private var firstDocument: UInt64 = 0

  init(_ context: ConsoleContext) { self.context = context }

  var firstNumber: UInt64 { log.firstNumber }
  var nextNumber: UInt64 { log.nextNumber }
  func turnOn() { log.turnOn() }

  func describe(_ number: UInt64) -> (String, JSONValue)? {
    guard let event = log[number], !isOfOther(event) else { return nil }
    guard event.kind == .other else { return EventDocument(broker: context.broker).describe(event) }
    guard event.subject >= firstDocument, event.subject - firstDocument < documents.count else { return nil }
    let (name, members) = documents[Int(event.subject - firstDocument)]
    return (name, EventDocument.object(name, event.at, members))
  }

  /// In a cluster: a step of a notification that came by another node, which tells of it too.
  private func isOfOther(_ event: BrokerEvent) -> Bool {
    guard event.kind == .delivery, let others = context.otherConsoles else { return false }
    return others.home(of: event.subject) != .here
  }

  /// Something has happened outside the broker. False while nobody watches.
  func publish(_ event: String, _ members: [(String, JSONValue)]) -> Bool {
    guard log.isOn else { return false }
    _ = log.append(subject: firstDocument + UInt64(documents.count), at: context.now())
    documents.append((event, members))
    if documents.count > Self.documentLimit {
      documents.removeFirst(leaving: ("", []))
      firstDocument += 1
    }
    return true
  }
}
