import Testing

/// What is lent, bytes above all, can't be kept: the compiler refuses each way of keeping it.
@Suite("What is lent can't be kept")
struct LendingTests {
  @Test("the compiler refuses what keeps something lent, for that reason alone", arguments: Snippet.refused)
  func refused(snippet: Snippet) throws {
    let verdict = try verdict(snippet)
    #expect(verdict.status != 0 && !verdict.errors.isEmpty, "it compiles")
    for error in verdict.errors { #expect(error.contains(snippet.reason), "\(verdict.output)") }
  }

  /// Of a snippet that keeps something. Without those lines it has to compile: its names and modules are right.
  private func verdict(_ snippet: Snippet) throws -> SwiftCompiler.Verdict {
    let compiler = try SwiftCompiler()
    let good = try compiler.check(snippet.source)
    #expect(good.status == 0 && good.errors.isEmpty, "\(good.output)")
    return try compiler.check(snippet.source, conditions: ["KEPT"])
  }
}
