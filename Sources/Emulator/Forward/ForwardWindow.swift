import LegacyWire
import PushModel

/// The notifications of one provider connection that are under way, in order, and what the provider may be told of them.
///
///     begun ─→ pending ─ accepted, and all before it ─→ passed, in silence
///                 └──── rejected, and all before it accepted ─→ the error packet; the rest is thrown away
///
/// Answers come in any order, but an error packet says that everything before it was accepted
/// (`Documentation/binary-protocol.md#error-packet`), so a rejection waits for those before it. From the moment that it
/// is known, nothing more begins.
struct ForwardWindow {
  /// How a connection ends after a rejection.
  struct Ending {
    var command: UInt8
    var status: UInt8
    var identifier: UInt32
    /// The provider may still write, as a fault wants it.
    var halfCloses: Bool
    /// Those that the other service has accepted, while the provider takes them for thrown away.
    var thrownAway: [ForwardPush]
  }

  private struct Entry {
    enum State {
      case pending
      case accepted(ForwardPush?)
      /// With the status byte.
      case rejected(UInt8, halfCloses: Bool)
    }

    var command: UInt8
    /// nil for that of the last one accepted before it.
    var identifier: UInt32?
    var token: [UInt8]
    var state = State.pending

    var isPending: Bool { if case .pending = state { true } else { false } }
    var accepted: ForwardPush? { if case .accepted(let push) = state { push } else { nil } }
  }

  let size: Int
  private var entries: [Entry] = []
  /// Sequence number of the first entry.
  private var firstSequence: UInt64 = 0
  private var hasRejection = false
  /// Identifier of the last notification that was accepted with all before it, for status 10; nil before the first that
  /// has one: a library that is told 0 resends for ever (`Documentation/binary-protocol.md#what-clients-do`).
  private(set) var lastAccepted: UInt32?

  init(size: Int) { self.size = max(1, size) }

  /// Whether nothing is under way.
  var isEmpty: Bool { entries.isEmpty }
  /// Whether another notification may begin.
  var mayBegin: Bool { !hasRejection && entries.count < size }

  /// Whether one for this token is under way: a second would overtake it if the first must be tried again.
  func holds(_ token: UnsafeRawBufferPointer?) -> Bool {
    guard let token, !entries.isEmpty else { return false }
    return entries.contains { $0.isPending && $0.token.elementsEqual(token) }
  }

  /// A notification is under way; answers its sequence number.
  mutating func begin(command: UInt8, identifier: UInt32, token: [UInt8]) -> UInt64 {
    entries.append(Entry(command: command, identifier: identifier, token: token))
    return firstSequence + UInt64(entries.count - 1)
  }

  /// The verdict on one: no rejection means accepted. Answers how the connection ends, once that is sure.
  mutating func settle(_ sequence: UInt64, _ rejection: Rejection?, _ push: ForwardPush? = nil) -> Ending? {
    guard sequence >= firstSequence, sequence - firstSequence < UInt64(entries.count) else { return nil }
    entries[Int(sequence - firstSequence)].state =
      rejection.map { .rejected($0.legacyStatus, halfCloses: false) } ?? .accepted(push)
    if rejection != nil { hasRejection = true }
    return settleFirst()
  }

  /// One that is refused with this status before it began; `identifier` is nil for that of the last one accepted.
  mutating func refuse(command: UInt8, status: UInt8, identifier: UInt32?, halfCloses: Bool) -> Ending? {
    let state = Entry.State.rejected(status, halfCloses: halfCloses)
    entries.append(Entry(command: command, identifier: identifier, token: [], state: state))
    hasRejection = true
    return settleFirst()
  }

  private mutating func settleFirst() -> Ending? {
    while let first = entries.first {
      switch first.state {
      case .pending: return nil
      case .accepted: pass(first)
      case .rejected(let status, let halfCloses): return end(first, status, halfCloses)
      }
    }
    return nil
  }

  private mutating func pass(_ entry: Entry) {
    if entry.command != LegacyCommand.simple.rawValue { lastAccepted = entry.identifier }
    entries.removeFirst()
    firstSequence += 1
  }

  private mutating func end(_ entry: Entry, _ status: UInt8, _ halfCloses: Bool) -> Ending {
    let thrownAway = entries.compactMap(\.accepted)
    firstSequence += UInt64(entries.count)
    entries = []
    return Ending(
      command: entry.command, status: status, identifier: entry.identifier ?? lastAccepted ?? 0,
      halfCloses: halfCloses, thrownAway: thrownAway)
  }
}
