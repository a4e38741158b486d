import Broker
import ConsoleAnswers
import Transport

/// Everybody who waits. Each is told of what came before, looked through bit by bit, and from then on of what comes and changes, which
/// is learned from the broker's events, so that nothing is looked at twice; and that it is over, when there is nothing more to wait for.
package final class WaitBoard: SlicedWork {
  /// Most clients that wait at once, as a count: with the event streams fewer than `HTTPLimits.connections`, so that
  /// those who wait leave room for others.
  package static let limit = 800
  /// Most waits of other nodes' clients, as a count: those of two nodes that are full. What a wait holds is small.
  static let nodeLimit = 2 * limit

  private let broker: Broker
  private let slices: SliceScheduler
  private var index = WaitIndex()
  /// The event to be looked at next.
  private var nextEvent: UInt64 = 0
  /// Those that it has not been shown to; nil before it is looked at.
  private var unasked: ArraySlice<WaitIndex.Group>?
  /// Notifications below this id have been looked at.
  private var nextId: UInt64 = 0
  private var isQueued = false

  package init(_ broker: Broker, _ slices: SliceScheduler) { (self.broker, self.slices) = (broker, slices) }

  package var count: Int { index.count }
  /// Whether something has happened that was not looked at.
  private var isBehind: Bool { nextEvent < broker.events.nextNumber }

  // MARK: Who waits

  /// Begins to wait: `listener` is told of what is found, and how it ends.
  package func begin(_ wait: NotificationWait, telling listener: any WaitListener) throws {
    guard hasRoom(for: wait) else { throw ConsoleError.busy("\(Self.limit) clients are waiting already") }
    broker.events.turnOn()
    if count == 0 { (nextEvent, nextId, unasked) = (broker.events.nextNumber, broker.journal.nextId, nil) }
    index.add(wait)
    wait.listener = listener
    wait.exchange.whenGone { [unowned self] in
      drop(wait)
      listener.gone()
    }
    scan(wait)
    guard index.contains(wait), !wait.isOverdue else { return }
    guard wait.timeout > 0 else { return overdue(wait) }
    wait.timer = slices.makeTimer(wait.timeout * 1_000_000) { [unowned self, unowned wait] in overdue(wait) }
  }

  private func hasRoom(for wait: NotificationWait) -> Bool {
    wait.exchange.request.isOfNode ? index.ofNodes < Self.nodeLimit : count - index.ofNodes < Self.limit
  }

  /// It waits no more, and tells nobody.
  package func drop(_ wait: NotificationWait) {
    (wait.timer, wait.listener) = (nil, nil)
    index.remove(wait)
  }

  /// Answers everybody who waits, as nothing more will be found.
  func end() {
    for wait in index.waits {
      drop(wait)
      wait.exchange.answer(ConsoleError.goesAway.response)
    }
  }

  /// Looks through what came before.
  private func scan(_ wait: NotificationWait) {
    let isScanning = { wait.isScanning && wait.exchange.isOpen }
    let look = { [broker] (slice: inout Slice) in
      guard isScanning() else { return false }
      slice.spend(Slice.look)
      wait.look(broker, &slice)
      return isScanning()
    }
    slices.add(SlicedSteps(look) { [unowned self] in settle(wait) })
  }

  /// Its time is over; what has happened until now still counts.
  private func overdue(_ wait: NotificationWait) {
    wait.isOverdue = true
    catchUp()
    settle(wait)
  }

  /// Tells that it is over, if there is nothing more to wait for.
  private func settle(_ wait: NotificationWait) {
    guard index.contains(wait), !wait.isScanning, let listener = wait.listener else { return }
    let isFulfilled = wait.isFulfilled
    guard isFulfilled || wait.isOverdue && !isBehind else { return }
    drop(wait)
    listener.concluded(wait, isFulfilled: isFulfilled)
  }

  // MARK: What happens

  /// Looks for everybody who waits at what has happened.
  func catchUp() {
    guard count > 0, isBehind, !isQueued else { return }
    isQueued = true
    slices.add(self, isUrgent: true)
  }

  package func work(_ slice: inout Slice) -> SliceOutcome {
    if nextEvent < broker.events.firstNumber { overrun() }
    while count > 0, isBehind, !slice.isSpent { lookOn(&slice) }
    if count > 0, isBehind { return .goesOn }
    isQueued = false
    for wait in index.waits where wait.isOverdue { settle(wait) }
    return .done
  }

  /// Shows the next event to those who may wait for it, as many as there is time for; the others come next time.
  private func lookOn(_ slice: inout Slice) {
    guard let event = broker.events[nextEvent], [.notification, .delivery, .phone].contains(event.kind),
      let record = broker.journal.shown(event.subject)
    else { return goOn(&slice) }
    if unasked == nil {
      slice.spend(Slice.look)
      if event.kind == .notification { nextId = max(nextId, record.id + 1) }
      unasked = index.groups(for: record, broker)[...]
    }
    while !slice.isSpent, let group = unasked?.popFirst() { show(event, record, to: group, &slice) }
    if unasked?.isEmpty != false { goOn(&slice) }
  }

  /// All have seen the event.
  private func goOn(_ slice: inout Slice) {
    if unasked == nil { slice.spend(Slice.look) }
    unasked = nil
    nextEvent += 1
  }

  private func show(
    _ event: BrokerEvent, _ record: JournalRecord, to group: WaitIndex.Group, _ slice: inout Slice
  ) {
    if group.matches(event, record, broker, &slice) {
      // Those that have what they wait for leave the group.
      for wait in group.waits {
        slice.spend(Slice.look)
        wait.found(record)
        if wait.isFulfilled { settle(wait) }
      }
    }
  }

  /// More has happened than the log of events holds: everybody looks at the history instead.
  private func overrun() {
    for group in index.all {
      for wait in group.waits { wait.lookAgain(from: group.states.isEmpty ? nextId : nil, broker) }
    }
    (nextEvent, nextId, unasked) = (broker.events.nextNumber, broker.journal.nextId, nil)
    for wait in index.waits { scan(wait) }
  }
}

/// Who is told what a wait finds.
package protocol WaitListener: AnyObject {
  /// One more, as it is found.
  func found(_ record: JournalRecord)
  /// All has been found, or the time is over; nothing more is told.
  func concluded(_ wait: NotificationWait, isFulfilled: Bool)
  /// The client has gone; nothing more is told.
  func gone()
}
