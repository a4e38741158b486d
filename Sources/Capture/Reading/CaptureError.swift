/// A capture file is not what it should be.
public struct CaptureError: Error, Equatable, CustomStringConvertible {
  /// Counted from 1.
  public var line: Int
  /// What was expected and what came, a lower-case sentence.
  public var sentence: String

  init(line: Int, expected: String, got: String) {
    (self.line, sentence) = (line, "expected \(expected), got \(got)")
  }

  public var description: String { "line \(line): \(sentence)" }
}
