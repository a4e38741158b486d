import PushModel

/// What is told of a push in a bit each, beside what its record has.
///
/// Written for every push, so that whoever looks at what providers do passes over nearly all of them unread.
public struct PushMarks: OptionSet, BitwiseCopyable, Sendable {
  public let rawValue: UInt8

  @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Its provider named its type; its record has the one that Apple takes it for otherwise.
  public static let saysPushType = PushMarks(rawValue: 1)
  /// Rejected, or its provider might do better (`PlainSubmission.marks`).
  public static let remarkable = PushMarks(rawValue: 2)
  /// Somebody else was asked about it, whose verdict comes later.
  public static let elsewhere = PushMarks(rawValue: 4)
}

extension PlainSubmission {
  /// Above so many bytes a payload is near the limit of its interface: 95 % of `Limits.legacyPayload` and `Limits.providerPayload`,
  /// spelled out, as every push is compared with them.
  private static var longFrame: Int { 1945 }
  private static var longBody: Int { 3891 }

  /// Marks of one that no check has anything against.
  @inline(__always)
  var marks: PushMarks {
    if interface == .gateway {
      let isRemarkable = command == 0 || expiration == 0 || payload.count > Self.longFrame
      return isRemarkable ? .remarkable : []
    }
    guard let pushType else { return .remarkable }
    let isRemarkable =
      expiration == 0 || payload.count > Self.longBody
      || pushType == .background && priority == .immediate
    return isRemarkable ? [.saysPushType, .remarkable] : .saysPushType
  }
}
