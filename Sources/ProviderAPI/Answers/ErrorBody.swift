import PushModel

/// The JSON that says why: body of an error answer, and debug data of a GOAWAY
/// (`Documentation/provider-api.md#response`, `#goaway`).
public enum ErrorBody {
  /// All bodies without a time, made once.
  private static let plain: [[UInt8]] = (0...UInt8.max).map { value in
    Rejection(rawValue: value).map { Array("{\"reason\":\"\($0.reason)\"}".utf8) } ?? []
  }

  /// `{"reason":"…"}`; with 410 also `timestamp`, in milliseconds since 1970.
  public static func bytes(_ rejection: Rejection, goneAt: Timestamp? = nil) -> [UInt8] {
    guard let goneAt, rejection.status == 410 else { return plain[Int(rejection.rawValue)] }
    return Array("{\"reason\":\"\(rejection.reason)\",\"timestamp\":\(goneAt.milliseconds)}".utf8)
  }
}
