import Broker
import PushModel

/// What another node's console waits for, as this node finds it: each at once, by id and time, and near misses when the time is over.
///
///     {"found": [{"id": 1, "receivedAt": "…"}, …], "nearMisses": […]}
final class FoundStream {
  private var queue: ArraySlice<JSONValue> = []
  private var isOver = false
  private var misses: NearMissSearch?
  private weak var document: GrowingDocument?

  /// The answer, which lasts as long as the wait.
  func makeDocument() -> GrowingDocument {
    let document = GrowingDocument([.list("found", nextFound), .list("nearMisses", nextMiss)])
    document.leavesWhileWaiting = true
    self.document = document
    return document
  }

  func found(_ record: JournalRecord) {
    queue.append([
      "id": .integer(Int64(clamping: record.id)), "receivedAt": .string(record.receivedAt.rfc3339),
    ])
    document?.goOn()
  }

  /// All has been found, or the time is over: then with what came near.
  func end(_ misses: NearMissSearch?) {
    (isOver, self.misses) = (true, misses)
    document?.goOn()
  }

  private func nextFound(_ slice: inout Slice) -> GrowingDocument.Element {
    if let found = queue.popFirst() { return .value(found) }
    return isOver ? .end : .waits
  }

  private func nextMiss(_ slice: inout Slice) -> GrowingDocument.Element { misses?.look(&slice) ?? .end }
}
