/// Sees every notification once, in order: when it is asked to look, when many are new, and before any is forgotten or cut
/// (`Journal.add`). The path of a push pays one comparison for all readers.
public final class JournalReader {
  /// Most records that may be unseen, as a count: so few that they are still in the processor's second cache when they are
  /// looked at.
  private static let recordsInCache = 512

  /// The first that it has not seen, by its id.
  public private(set) var nextId: UInt64
  let see: (_ ids: Range<UInt64>) -> Void

  init(from id: UInt64, _ see: @escaping (_ ids: Range<UInt64>) -> Void) {
    (nextId, self.see) = (id, see)
  }

  /// It has seen those below an id.
  func goOn(to id: UInt64) { nextId = id }

  /// The id with which too many would be unseen, or one that is unseen would be forgotten.
  func due(_ capacity: Int) -> UInt64 { nextId + UInt64(min(capacity / 2, Self.recordsInCache)) }
}
