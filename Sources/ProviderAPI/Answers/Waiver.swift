import PushModel

/// A rule that a lenient check did not enforce.
public struct Waiver: Equatable, Sendable {
  public var rejection: Rejection
  public var explanation: Explanation
}
