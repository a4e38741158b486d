import Testing

import Platform

/// What `replay` is said to have had in memory at most is its own.
@Suite("Memory of a program that was started")
struct ChildMemoryTests {
  /// More than `sleep` ever takes, in bytes, and less than this process has.
  private static let bound = 48 << 20

  @Test(
    "is not that of the one that started it, and is known also if its output was read until it ended",
    arguments: [false, true])
  func own(readsOutput: Bool) throws {
    // All of it is touched, so it is resident.
    let ballast = [UInt8](repeating: 1, count: 4 * Self.bound)
    let child = try ChildProcess("/bin/sleep", ["0.1"])
    while readsOutput, child.nextLine() != nil {}
    let peak = child.awaitEnd()
    #expect(peak > 0 && peak < Self.bound)
    #expect(ballast.last == 1)
  }
}
