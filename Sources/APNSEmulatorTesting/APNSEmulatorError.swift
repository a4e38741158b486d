/// Why something that a test asked of an emulator did not come about.
///
/// ```swift
/// do {
///   _ = try await emulator.waitForPush(within: .seconds(1))
/// } catch let error as APNSEmulatorError where error.code == .timedOut {
///   print(error)  // waited 1.0 seconds for 1 push; none came
/// }
/// ```
public struct APNSEmulatorError: Error, Sendable, CustomStringConvertible {
  /// What kind of thing went wrong.
  public enum Code: Sendable {
    /// What was waited for did not happen in time.
    case timedOut
    /// The emulator, or the task that waited, was ended.
    case stopped
    /// A topic, a UDID or the like is not one; the description says what is expected.
    case invalid
    /// The emulator said no.
    case refused
  }

  /// What kind of thing went wrong.
  public let code: Code
  /// A sentence for people: what was expected, and what came.
  public let description: String

  init(_ code: Code, _ description: String) { (self.code, self.description) = (code, description) }
}
