import Basics
import Testing

import Credentials

@Suite("Proofs that were accepted")
struct ProofMemoryTests {
  private static let second: Int64 = 1_000_000_000
  private let start = Instant(nanoseconds: 7 * Self.second)
  private let key: [UInt8] = [1, 2, 3]

  private func nonce(_ number: UInt64) -> [UInt8] {
    withUnsafeBytes(of: number.bigEndian) { [0] + [UInt8](repeating: 0, count: 8) + Array($0) }
  }

  /// An object, so that it can be asked within an expectation.
  private final class Memory {
    private var memory = ProofMemory(period: 1800 * ProofMemoryTests.second)

    var count: Int { memory.count }

    func insert(nonce: [UInt8], keyFingerprint: [UInt8], at now: Instant) -> Bool {
      memory.insert(nonce: nonce, keyFingerprint: keyFingerprint, at: now)
    }
  }

  @Test("are known again, each with the key that made it")
  func known() {
    let memory = Memory()
    #expect(memory.insert(nonce: nonce(1), keyFingerprint: key, at: start))
    #expect(!memory.insert(nonce: nonce(1), keyFingerprint: key, at: start))
    #expect(memory.insert(nonce: nonce(2), keyFingerprint: key, at: start))
    #expect(memory.insert(nonce: nonce(1), keyFingerprint: [4], at: start))
    #expect(memory.count == 3)
  }

  @Test("are known for as long as they could be accepted, and forgotten after twice that")
  func period() {
    let memory = Memory()
    for late in [0, 1, 900, 1799] as [Int64] {
      let made = start.adding(nanoseconds: late * Self.second)
      #expect(memory.insert(nonce: nonce(UInt64(late)), keyFingerprint: key, at: made))
    }
    for late in [1800, 1801, 2700, 3599] as [Int64] {
      let now = start.adding(nanoseconds: late * Self.second)
      #expect(!memory.insert(nonce: nonce(UInt64(late - 1800)), keyFingerprint: key, at: now), "\(late)")
    }
    let much = start.adding(nanoseconds: 3 * 3600 * Self.second)
    #expect(memory.insert(nonce: nonce(0), keyFingerprint: key, at: much))
    #expect(memory.count == 1)
  }

  @Test("are known to the last moment at which they could be accepted, and not when twice that has passed")
  func ends() {
    let memory = Memory()
    func insert(_ number: UInt64, after seconds: Int64) -> Bool {
      memory.insert(
        nonce: nonce(number), keyFingerprint: key, at: start.adding(nanoseconds: seconds * Self.second))
    }
    #expect(insert(1, after: 0) && insert(2, after: 1800))
    #expect(!insert(2, after: 3600))
    #expect(insert(3, after: 3600) && insert(3, after: 7200))
    #expect(memory.count == 1)
  }

  @Test("are bounded, the oldest being forgotten first")
  func bounded() {
    let memory = Memory()
    let count = UInt64(ProofMemory.generationCapacity)
    for number in 0..<2 * count + 1 {
      if !memory.insert(nonce: nonce(number), keyFingerprint: key, at: start) { Issue.record("\(number)") }
    }
    #expect(memory.count == Int(count) + 1)
    #expect(!memory.insert(nonce: nonce(2 * count), keyFingerprint: key, at: start))
    #expect(!memory.insert(nonce: nonce(count), keyFingerprint: key, at: start))
  }
}
