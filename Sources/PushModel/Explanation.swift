/// Why a request was refused, for people: which rule, what it asks for, what came.
///
/// One reference, as it goes from the rule to the answer, the history and the log; made into text where that is read.
public struct Explanation: Equatable, Sendable {
  private final class Parts: Sendable {
    let rule, expected, got: Phrase

    init(_ rule: Phrase, _ expected: Phrase, _ got: Phrase) {
      (self.rule, self.expected, self.got) = (rule, expected, got)
    }
  }

  private var parts: Parts

  /// - Parameters:
  ///   - rule: the rule, with its place in the specification.
  ///   - expected: what it asks for.
  ///   - got: what came. Never a secret.
  public init(rule: Phrase, expected: Phrase, got: Phrase) { parts = Parts(rule, expected, got) }

  public var rule: String { parts.rule.text }
  public var expected: String { parts.expected.text }
  public var got: String {
    get { parts.got.text }
    set { parts = Parts(parts.rule, parts.expected, Phrase(newValue)) }
  }

  /// The same with words before it.
  public func following(_ words: Phrase) -> Explanation {
    Explanation(rule: "\(words)\(parts.rule)", expected: parts.expected, got: parts.got)
  }

  /// One line for logs and headers.
  public var text: String {
    var buffer = TextBuffer()
    write(to: &buffer)
    return buffer.text
  }

  /// Writes that line.
  public func write(to buffer: inout TextBuffer) {
    parts.rule.write(to: &buffer)
    buffer.append(": expected ")
    parts.expected.write(to: &buffer)
    buffer.append(", got ")
    parts.got.write(to: &buffer)
  }

  public static func == (left: Explanation, right: Explanation) -> Bool {
    left.parts.rule == right.parts.rule && left.parts.expected == right.parts.expected
      && left.parts.got == right.parts.got
  }
}
