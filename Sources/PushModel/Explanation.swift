import Basics

/// Pages of Apple's documentation, by their titles, for people who want to read on.
public enum ApplePage: String, CaseIterable, Sendable {
  case sendingRequests = "Sending notification requests to APNs"
  case handlingResponses = "Handling notification responses from APNs"
  case tokenConnection = "Establishing a token-based connection to APNs"
  case certificateConnection = "Establishing a certificate-based connection to APNs"
  case managingChannels = "Sending channel management requests to APNs"
  case broadcasting = "Sending broadcast push notification requests to APNs"
  case handlingErrors = "Handling error responses from APNs"
  /// Of the archived Local and Remote Notification Programming Guide.
  case binaryInterface = "Binary Provider API"
}

extension Phrase {
  /// A rule in words, with the page that states it.
  public init(rule words: String, _ page: ApplePage) { self.init("\(words) (Apple: \(page.rawValue))") }
}

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
    var buffer = ByteBuffer(capacity: 256)
    write(to: &buffer)
    return buffer.text
  }

  /// Writes that line.
  public func write(to buffer: inout ByteBuffer) {
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
