import Basics
import Broker
import LegacyWire
import PushModel

/// The notifications of one gateway connection whose verdict is outstanding, in order, and what the provider may be told.
///
///     begun ─→ pending ─ accepted, and all before it ─→ passed, in silence
///                 └──── rejected, and all before it accepted ─→ the error packet; the rest is thrown away
///
/// Verdicts come in any order, but an error packet says that everything before it was accepted
/// (`Documentation/binary-protocol.md#error-packet`), so a rejection waits for those before it. From the moment that it
/// is known, nothing more begins; a window that decides all first waits for those behind it, too. `Undo` is what the sink wants to
/// have of one that it has accepted and that the provider takes for discarded.
package struct VerdictWindow<Undo> {
  /// How a connection ends after a rejection.
  package struct Ending {
    package var command: UInt8
    package var status: UInt8
    package var identifier: UInt32
    /// The provider may still write, as a fault wants it.
    var halfCloses: Bool
    /// Of those that were accepted, while the provider takes them for discarded.
    package var discarded: [Undo]
  }

  private struct Entry {
    enum State {
      case pending
      case accepted(Undo?)
      /// With the status byte.
      case rejected(UInt8, halfCloses: Bool)
    }

    var command: UInt8
    /// nil for that of the last one accepted before it.
    var identifier: UInt32?
    var token: [UInt8]
    var state = State.pending

    var isPending: Bool { if case .pending = state { true } else { false } }
    var undo: Undo? { if case .accepted(let undo) = state { undo } else { nil } }
  }

  private let limits: PushWindow
  private var entries = FIFO<Entry>()
  /// Without a verdict, as a count.
  private var pendingCount = 0
  /// Sequence number of the next that begins.
  package private(set) var nextSequence: UInt64 = 0
  private var hasGivenUpRest = false
  /// Nothing more begins, whether its provider has heard of it or is yet to.
  private(set) var hasRejection = false

  package init(_ limits: PushWindow) { self.limits = limits }

  /// Whether no verdict is outstanding.
  package var isEmpty: Bool { entries.isEmpty }
  /// Whether an error packet is sure, and waits only for those behind its notification.
  package var awaitsRest: Bool {
    if limits.decidesAllFirst, pendingCount > 0, case .rejected? = entries.first?.state {
      true
    } else {
      false
    }
  }
  /// Answers true once, when that has become so: what is behind it need not be tried any more.
  mutating func givesUpRest() -> Bool {
    guard !hasGivenUpRest, awaitsRest else { return false }
    hasGivenUpRest = true
    return true
  }
  /// Whether another notification may begin.
  package var mayBegin: Bool { !hasRejection && entries.count < limits.size }
  /// Sequence number of the first entry.
  private var firstSequence: UInt64 { nextSequence - UInt64(entries.count) }

  /// Whether one for this token is under way: a second would overtake it if the first must be tried again.
  package func holds(_ token: Span<UInt8>?) -> Bool {
    guard limits.mayRetry, let token, !entries.isEmpty else { return false }
    return entries.contains { $0.isPending && $0.token.span.hasSameBytes(as: token) }
  }

  /// A notification is under way, as `nextSequence` had it.
  package mutating func begin(command: UInt8, identifier: UInt32, token: @autoclosure () -> [UInt8]) {
    entries.append(
      Entry(command: command, identifier: identifier, token: limits.mayRetry ? token() : []))
    (nextSequence, pendingCount) = (nextSequence + 1, pendingCount + 1)
  }

  /// The verdict on one: no rejection means accepted. Answers how the connection ends, once that is sure; `lastAccepted` is the
  /// identifier of the last that was accepted with all before it, as it will be named.
  package mutating func settle(
    _ sequence: UInt64, _ rejection: Rejection?, undo: Undo? = nil, _ lastAccepted: inout UInt32?
  ) -> Ending? {
    guard sequence >= firstSequence, sequence < nextSequence else { return nil }
    if entries[Int(sequence - firstSequence)].isPending { pendingCount -= 1 }
    entries[Int(sequence - firstSequence)].state =
      rejection.map { .rejected($0.legacyStatus, halfCloses: false) } ?? .accepted(undo)
    if rejection != nil { hasRejection = true }
    // A server that goes names the last that it took.
    if rejection == .shutdown { entries[Int(sequence - firstSequence)].identifier = nil }
    return settleFirst(&lastAccepted)
  }

  /// One whose verdict is known: no status means accepted; `identifier` is nil for that of the last one accepted.
  package mutating func take(
    command: UInt8, status: UInt8?, identifier: UInt32?, halfCloses: Bool = false,
    _ lastAccepted: inout UInt32?
  ) -> Ending? {
    let state = status.map { Entry.State.rejected($0, halfCloses: halfCloses) } ?? .accepted(nil)
    entries.append(Entry(command: command, identifier: identifier, token: [], state: state))
    nextSequence += 1
    if status != nil { hasRejection = true }
    return settleFirst(&lastAccepted)
  }

  private mutating func settleFirst(_ lastAccepted: inout UInt32?) -> Ending? {
    while let first = entries.first {
      switch first.state {
      case .pending: return nil
      case .accepted:
        if first.command != LegacyCommand.simple.rawValue { lastAccepted = first.identifier }
        entries.removeFirst()
      case .rejected(let status, let halfCloses):
        return awaitsRest ? nil : end(first, status, halfCloses, lastAccepted)
      }
    }
    return nil
  }

  private mutating func end(_ entry: Entry, _ status: UInt8, _ halfCloses: Bool, _ lastAccepted: UInt32?)
    -> Ending
  {
    let discarded = entries.compactMap(\.undo)
    // Who has had nothing taken gets no packet: a library that is told 0 resends for ever.
    let isUntold = entry.identifier == nil && lastAccepted == nil && status == Rejection.shutdown.legacyStatus
    entries.removeAll()
    pendingCount = 0
    return Ending(
      command: isUntold ? LegacyCommand.simple.rawValue : entry.command, status: status,
      identifier: entry.identifier ?? lastAccepted ?? 0,
      halfCloses: halfCloses, discarded: discarded)
  }
}
