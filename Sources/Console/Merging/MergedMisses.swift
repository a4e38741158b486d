import Broker
import PushModel

/// The near misses of all nodes: those that fail the fewest filters, the newest first, and no more than one node tells.
final class MergedMisses {
  /// One of them.
  private struct Miss {
    let failed: Int
    let mark: HistoryMark
    let bytes: [UInt8]

    init(failed: Int, mark: HistoryMark, bytes: [UInt8]) {
      (self.failed, self.mark, self.bytes) = (failed, mark, bytes)
    }

    /// As another node tells it; nil for what is none.
    init?(_ bytes: [UInt8]) {
      var (mark, failed): (HistoryMark?, Int) = (nil, 0)
      let isRead = bytes.withUnsafeBytes { bytes in
        var cursor = JSONCursor(bytes)
        do throws(JSONSurprise) {
          try cursor.members { name, cursor throws(JSONSurprise) in
            if name.spells("notification") {
              mark = try HistoryMark(&cursor)
            } else {
              try cursor.elements { cursor throws(JSONSurprise) in
                failed += 1
                try cursor.skipValue(depth: JSONText.maximumDepth)
              }
            }
          }
          return true
        } catch { return false }
      }
      guard isRead, let mark else { return nil }
      self.init(failed: failed, mark: mark, bytes: bytes)
    }

    static func isNearer(_ left: Miss, _ right: Miss) -> Bool {
      left.failed == right.failed ? left.mark > right.mark : left.failed < right.failed
    }
  }

  private let own: NearMissSearch
  private let broker: Broker
  private var misses: [Miss]
  private var hasOwnEnded = false

  init(_ own: NearMissSearch, _ broker: Broker, others: [[UInt8]]) {
    (self.own, self.broker, misses) = (own, broker, others.compactMap(Miss.init))
  }

  /// As a member of a document.
  func look(_ slice: inout Slice) -> GrowingDocument.Element {
    if !hasOwnEnded { return lookAtOwn(&slice) }
    return misses.isEmpty ? .end : .value(.verbatim(misses.removeFirst().bytes))
  }

  private func lookAtOwn(_ slice: inout Slice) -> GrowingDocument.Element {
    switch own.step(&slice) {
    case .miss(let miss):
      let mark = HistoryMark(receivedAt: miss.record.receivedAt.rfc3339, id: miss.record.id)
      misses.append(Miss(failed: miss.failed.count, mark: mark, bytes: miss.json.encoded))
    case .nothing: break
    case .end:
      hasOwnEnded = true
      misses = Array(misses.sorted(by: Miss.isNearer).prefix(NearMissSearch.limit))
    }
    return .nothing
  }
}
