import PushModel

/// When a push expires: a time, or so long from now.
enum ExpirationTime: Equatable, Sendable {
  case at(UInt32)
  case after(Interval)

  init?(_ text: String) {
    if text.hasPrefix("+") {
      guard let interval = Interval(String(text.dropFirst())) else { return nil }
      self = .after(interval)
    } else {
      guard let time = UInt32(text) else { return nil }
      self = .at(time)
    }
  }

  /// UNIX seconds, as the field of a frame holds them.
  func seconds(from now: Timestamp) -> UInt32 {
    switch self {
    case .at(let seconds): seconds
    case .after(let interval): UInt32(clamping: now.adding(nanoseconds: interval.nanoseconds).seconds)
    }
  }
}
