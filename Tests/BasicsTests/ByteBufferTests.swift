import Basics
import Testing

@Suite("A byte buffer")
struct ByteBufferTests {
  private func pattern(_ range: Range<Int>) -> [UInt8] { range.map { UInt8(truncatingIfNeeded: $0 &* 31) } }

  @Test("keeps what was appended, in order, however it grows", arguments: [0, 1, 64])
  func order(_ capacity: Int) {
    var buffer = ByteBuffer(capacity: capacity, growingBy: 8)
    #expect(buffer.capacity == capacity)
    var expected: [UInt8] = []
    for size in [0, 1, 7, 100, 5000] {
      let piece = pattern(expected.count..<expected.count + size)
      buffer.append(piece.span)
      buffer.append(UInt8(truncatingIfNeeded: size))
      expected += piece + [UInt8(truncatingIfNeeded: size)]
      #expect(Array(buffer.span) == expected && buffer.count == expected.count)
    }
    #expect(buffer.capacity >= buffer.count)
  }

  @Test("forgets its end or its beginning, and keeps the memory until it is freed")
  func forgets() {
    var buffer = ByteBuffer()
    buffer.append(pattern(0..<100).span)
    let capacity = buffer.capacity
    buffer.removeAll(from: 80)
    buffer.removeFirst(30)
    #expect(Array(buffer.span) == pattern(30..<80))
    buffer.removeAll(from: 1000)
    #expect(buffer.count == 50)
    buffer.removeAll()
    #expect(buffer.count == 0 && buffer.capacity == capacity)
    buffer.free()
    #expect(buffer.capacity == 0 && buffer.span.isEmpty)
    buffer.append(7)
    #expect(Array(buffer.span) == [7])
  }

  @Test("adds as much as was written to the room that it lends")
  func room() {
    var buffer = ByteBuffer(capacity: 4)
    buffer.append(1)
    let (some, none) = (
      buffer.append(atMost: 10) { room in
        room.append(native: 0x0202 as UInt16)
        return room.count
      }, buffer.append(atMost: 100) { $0.count }
    )
    #expect(some == 2 && none == 0 && Array(buffer.span) == [1, 2, 2])
    var bytes = buffer.mutableSpan
    bytes[0] = 9
    #expect(Array(buffer.span) == [9, 2, 2])
  }

  @Test("what it does not hold can't be forgotten or kept: a mistake of ours ends the process")
  func bounds() async {
    await #expect(processExitsWith: .failure) {
      var buffer = ByteBuffer()
      buffer.append(1)
      buffer.removeFirst(2)
    }
    await #expect(processExitsWith: .failure) {
      var buffer = ByteBuffer()
      buffer.append(1)
      buffer.removeFirst(-1)
    }
    await #expect(processExitsWith: .failure) {
      var buffer = ByteBuffer()
      buffer.append(1)
      buffer.removeAll(from: -1)
    }
    await #expect(processExitsWith: .failure) {
      var buffer = ByteBuffer(capacity: 16)
      for byte in UInt8.zero..<16 { buffer.append(byte) }
      buffer.resize(to: 8)
    }
  }
}
