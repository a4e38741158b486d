import PushModel

/// A rule that a lenient check did not enforce.
public struct Waiver: Equatable, Sendable {
  /// What strict would answer; nil where it would not let the handshake pass.
  public var rejection: Rejection?
  public var explanation: Explanation

  public init(rejection: Rejection?, explanation: Explanation) {
    (self.rejection, self.explanation) = (rejection, explanation)
  }
}
