import PushModel

/// A rule that was not enforced, and is told of.
public struct Waiver: Equatable, Sendable {
  /// Who would enforce it.
  public enum Authority: String, Sendable {
    /// The checks without `--lenient`.
    case strict
    /// Apple's pages, where Apple's servers are seen to take more.
    case documents = "the documents"
  }

  public var authority: Authority
  /// What strict would answer; nil where it would not let the handshake pass.
  public var rejection: Rejection?
  public var explanation: Explanation

  public init(_ authority: Authority = .strict, rejection: Rejection?, explanation: Explanation) {
    (self.authority, self.rejection, self.explanation) = (authority, rejection, explanation)
  }
}
