import Basics
import Testing

@Suite("FIFO")
struct FIFOTests {
  @Test("is an array whose first elements are taken", arguments: 0..<20 as Range<UInt64>)
  func isAnArray(seed: UInt64) {
    var choices = SeededChoices(seed: seed)
    var (queue, model) = (FIFO<Int>(), [Int]())
    for number in 0..<2000 {
      switch Int.random(in: 0..<20, using: &choices) {
      case 0..<10:
        queue.append(number)
        model.append(number)
      case 10..<16 where !model.isEmpty: #expect(queue.removeFirst() == model.removeFirst())
      case 16..<19 where !model.isEmpty: #expect(queue.removeFirst(leaving: -1) == model.removeFirst())
      case 19 where !model.isEmpty:
        let offset = Int.random(in: model.indices, using: &choices)
        queue[offset] += 1
        model[offset] += 1
      default: break
      }
      #expect(queue.count == model.count && queue.isEmpty == model.isEmpty && queue.first == model.first)
    }
    #expect(Array(queue) == model)
    queue.removeAll()
    #expect(queue.isEmpty && queue.first == nil)
  }

  private final class Thing {}

  @Test("lets go at once of what was taken, where something is left in its place")
  func letsGo() {
    var queue = FIFO<Thing?>()
    for _ in 0..<10 { queue.append(Thing()) }
    weak var first: Thing?
    first = queue[0]
    #expect(first != nil)
    queue.removeFirst(leaving: nil)
    #expect(first == nil && queue.count == 9)
  }
}
