import Basics

/// Sees every notification once, in order: when it is asked to look, when many are new, and before any is forgotten or cut
/// (`Journal.add`). The path of a push pays one comparison for all readers.
public final class JournalReader {
  /// Most records that may be unseen, as a count: so few that they are still in the processor's second cache when they are
  /// looked at.
  private static let recordsInCache = 512

  /// The first that it has not seen, by its id.
  public fileprivate(set) var nextId: UInt64
  fileprivate let see: (_ ids: Range<UInt64>) -> Void

  fileprivate init(from id: UInt64, _ see: @escaping (_ ids: Range<UInt64>) -> Void) {
    (nextId, self.see) = (id, see)
  }

  /// The id with which too many would be unseen, or one that is unseen would be forgotten.
  fileprivate func due(_ capacity: Int) -> UInt64 {
    nextId + UInt64(min(capacity / 2, Self.recordsInCache))
  }
}

/// Whoever has to see all notifications of a journal.
struct JournalReaders {
  fileprivate(set) var all: [JournalReader] = []
  /// They look before this id is given.
  private(set) var dueFrom = UInt64.max

  /// Readers have come, gone, or gone on.
  fileprivate mutating func changed(_ capacity: Int) {
    dueFrom = .max
    for reader in all { dueFrom = min(dueFrom, reader.due(capacity)) }
  }
}

extension Journal {
  /// Adds a reader of what comes from now on. `see` gets the ids of what is new, which may be none; all of them are still here.
  public func add(seeing see: @escaping (_ ids: Range<UInt64>) -> Void) -> JournalReader {
    let reader = JournalReader(from: nextId, see)
    readers.all.append(reader)
    readers.changed(capacity)
    return reader
  }

  public func remove(_ reader: JournalReader) {
    readers.all.removeAll { $0 === reader }
    readers.changed(capacity)
  }

  /// Has one reader see what is new.
  public func look(_ reader: JournalReader) {
    let first = max(reader.nextId, firstId)
    pass(reader)
    reader.see(min(first, nextId)..<nextId)
  }

  /// What is new is not shown to a reader.
  public func pass(_ reader: JournalReader) {
    reader.nextId = nextId
    readers.changed(capacity)
  }

  /// Has all see what is new: ids are about to be given that are due, or notifications to be forgotten.
  func drain() {
    for reader in readers.all { look(reader) }
  }
}
