import PushModel

extension DeviceEvent {
  /// One line for people.
  public var textLine: String {
    switch self {
    case .activated(let udid): "activated     \(udid)"
    case .connected(let baseToken): "connected     base token \(baseToken.hex)"
    case .token(let topic, let token): "token         \(topic)  \(token.hex)"
    case .tokenRefused(let topic, let status): "no token      \(topic)  refused with status \(status)"
    case .notification(let notification): "notification  \(notification.text)"
    case .app(let topic, let action): "app           \(topic)  \(action.name)"
    case .erased(let udid): "erased        \(udid)"
    case .disconnected(let reason): "disconnected  \(DeviceNotification.printable(reason))"
    }
  }
}

extension DeviceNotification {
  fileprivate var text: String {
    let content =
      JSONText.compact(payload).map { Self.printable(String(decoding: $0, as: UTF8.self)) }
      ?? "\(payload.count) bytes that are not JSON"
    return "\(topic)  \(content)\(isFromStore ? "  (kept while away)" : "")"
  }

  /// Text that cannot drive a terminal: control characters, which JSON allows above U+007E, are written as numbers.
  fileprivate static func printable(_ text: String) -> String {
    var printable = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator:
        printable.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)
      default: printable.append(scalar)
      }
    }
    return String(printable)
  }
}
