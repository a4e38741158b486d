import Transport

/// Frames for a device that nobody asked for and that came too soon after an answer
/// (`Documentation/device-protocol.md#quiet-after-an-answer`).
struct HeldFrames {
  private(set) var bytes: [UInt8] = []
  private var release: LoopEvent?

  var isEmpty: Bool { bytes.isEmpty }
  /// In bytes.
  var count: Int { bytes.count }

  /// Keeps one more. The first starts a timer of `makeRelease` that fires after `delay` nanoseconds.
  mutating func append(_ frame: [UInt8], releaseAfter delay: Int64, _ makeRelease: () -> LoopEvent) {
    bytes += frame
    guard release == nil else { return }
    release = makeRelease()
    postpone(by: delay)
  }

  /// Lets the timer fire again after `delay` nanoseconds.
  func postpone(by delay: Int64) { release?.start(afterNanoseconds: delay) }

  /// What was held, which is not held any more.
  mutating func take() -> [UInt8] {
    defer { drop() }
    return bytes
  }

  mutating func drop() {
    bytes = []
    release?.cancel()
    release = nil
  }
}
