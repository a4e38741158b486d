@_exported import enum Advice.AdviceRule
@_exported import struct Advice.Finding
@_exported import enum Advice.Severity

/// What providers do against Apple's advice (`Documentation/advice.md` explains each finding).
extension APNSEmulator {
  /// What providers were seen to do since the last time that it was forgotten, the worst first.
  ///
  /// Ask once the code under test has sent all that it will: what was lost and has not been sent again by then counts as lost.
  ///
  /// ```swift
  /// #expect(try await emulator.advice(from: .warning).isEmpty)
  /// ```
  ///
  /// - Parameter severity: The least that is told.
  public func advice(from severity: Severity = .note) throws -> [Finding] {
    try checkLife()
    live.emulator.advice.nothingMoreComes()
    return live.emulator.advice.findings().filter { $0.severity >= severity }
  }
}
