import PushModel

/// How fast a number of pushes went, and between which moments.
public enum PushRate {
  /// What the clock was stopped for, from the moment that the connection was open.
  public enum Measured: String, Sendable {
    /// Every push had its answer.
    case answers = "until the last answer"
    /// The system had taken all bytes. Whether the service has is not known: silence is its only yes.
    case sending = "until the last byte was handed to the system"
  }

  /// Members `milliseconds`, `perSecond` and `measured`; none without a time.
  public static func members(_ count: Int, nanoseconds: Int64?, _ measured: Measured) -> [(String, JSONValue)]
  {
    guard let nanoseconds else { return [] }
    let perSecond = Double(count) * 1_000_000_000 / Double(max(1, nanoseconds))
    return [
      ("milliseconds", .integer(nanoseconds / 1_000_000)),
      ("perSecond", .integer(Int64(perSecond.rounded()))),
      ("measured", .string(measured.rawValue)),
    ]
  }
}
