import Basics
import LegacyWire
import PushModel

/// A request as it is sent again. Authorization is not among the fields.
public struct ReplayRequest: Equatable, Sendable {
  public var path: String
  public var fields: [(name: String, value: String)]
  public var body: [UInt8]

  public static func == (left: ReplayRequest, right: ReplayRequest) -> Bool {
    left.path == right.path && left.body == right.body
      && left.fields.elementsEqual(right.fields) { $0 == $1 }
  }
}

/// One push in the words of the other protocol, or with other tokens.
public enum PushTranslation {
  private static let devicePath = "/3/device/"

  /// The frame as a request, its topic being that of the certificate (`Documentation/provider-api.md#request`,
  /// `#push-types`); nil if the frame can't be parsed.
  public static func request(
    from frame: Span<UInt8>, topic: String, _ mapping: ReplayMapping
  ) -> ReplayRequest? {
    guard case .notification(let notification) = LegacyFrameParser.next(in: frame) else { return nil }
    let payload = Array(notification.payload.orNone)
    let type = PushType(forwarding: payload, to: topic)
    // Background pushes must not ask for more (`Documentation/provider-api.md#push-types`).
    let priority = type == .background ? Priority.conserving : notification.priority
    var fields = [
      (name: "apns-topic", value: mapping.topic(topic)), (name: "apns-push-type", value: type.name),
      (name: "apns-priority", value: "\(priority.rawValue)"),
    ]
    if let expiration = notification.expiration {
      fields.append((name: "apns-expiration", value: "\(expiration)"))
    }
    let token = mapping.token(Array(notification.token.orNone))
    return ReplayRequest(path: devicePath + Hex.encode(token), fields: fields, body: payload)
  }

  /// The frame with another token; nil if there is none for its token.
  public static func frame(_ frame: Span<UInt8>, _ mapping: ReplayMapping) -> [UInt8]? {
    guard !mapping.tokens.isEmpty, case .notification(let notification) = LegacyFrameParser.next(in: frame),
      let old = notification.token, let new = mapping.tokens[Array(old)],
      let start = frame.indices(of: old)?.lowerBound, start >= 2
    else { return nil }
    let lengths = [UInt8(truncatingIfNeeded: new.count >> 8), UInt8(truncatingIfNeeded: new.count)]
    var bytes = Array(frame.prefix(start - 2)) + lengths + new + Array(frame.dropping(start + old.count))
    if notification.command == .frame {
      let body = UInt32(truncatingIfNeeded: bytes.count - 5)
      for place in 0..<4 { bytes[1 + place] = UInt8(truncatingIfNeeded: body >> UInt32(24 - 8 * place)) }
    }
    return bytes
  }

  /// The request as a command 2 frame; nil if its path has no token in hexadecimal.
  public static func frame(
    path: String, fields: Span<UInt8>, body: Span<UInt8>, identifier: UInt32,
    _ mapping: ReplayMapping
  ) -> [UInt8]? {
    guard path.hasPrefix(devicePath), let token = Hex.decode(path.dropFirst(devicePath.count)) else {
      return nil
    }
    func number(_ name: StaticString) -> UInt32? {
      UInt32(FieldBlock.value(of: name, in: fields).text)
    }
    let priority = number("apns-priority").map { UInt8($0 >= 10 ? 10 : 5) }
    return LegacyEncoder.frame(
      token: mapping.token(token), payload: Array(body), identifier: identifier,
      expiration: number("apns-expiration"), priority: priority)
  }

  /// The path with another token, if there is one for its token.
  public static func path(_ path: String, _ mapping: ReplayMapping) -> String {
    guard !mapping.tokens.isEmpty, path.hasPrefix(devicePath),
      let token = Hex.decode(path.dropFirst(devicePath.count)), let new = mapping.tokens[token]
    else { return path }
    return devicePath + Hex.encode(new)
  }
}
