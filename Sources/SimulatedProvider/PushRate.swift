import PushModel

/// How fast a number of pushes went.
public enum PushRate {
  /// Members `milliseconds` and `perSecond`; none without a time.
  public static func members(_ count: Int, nanoseconds: Int64?) -> [(String, JSONValue)] {
    guard let nanoseconds else { return [] }
    let perSecond = Double(count) * 1_000_000_000 / Double(max(1, nanoseconds))
    return [
      ("milliseconds", .integer(nanoseconds / 1_000_000)),
      ("perSecond", .integer(Int64(perSecond.rounded()))),
    ]
  }
}
