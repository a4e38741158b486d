import Capture
import LegacyWire
import PushModel
import Transport

/// Heads of requests, made once for all that differ in nothing but path and body, as those of one provider mostly do.
struct RequestHeads {
  /// Heads kept, as a count; then it starts over.
  private static let limit = 256

  private var known: [[UInt8]: HTTP2RequestHead] = [:]

  /// The head of a recorded request, with another authorization and topic.
  mutating func head(
    of push: RecordedPush, authorization: String?, _ name: String, _ mapping: ReplayMapping
  ) -> HTTP2RequestHead {
    let method = String(decoding: push.batch.method(push.entry), as: UTF8.self)
    let key = Array(push.fields) + Array("\n\(method)\n\(name)\n\(authorization ?? "")".utf8)
    if let head = known[key] { return head }
    var (authority, fields): (String, [(name: String, value: String)]) = (name, [])
    FieldBlock.forEach(in: push.fields) { field, value in
      let (field, value) = (String(decoding: field, as: UTF8.self), String(decoding: value, as: UTF8.self))
      switch field {
      case "authorization": if let authorization { fields.append((field, authorization)) }
      case "apns-topic": fields.append((field, mapping.topic(value)))
      case ":authority": authority = value
      case "host", "content-length": break
      default: if !field.hasPrefix(":") { fields.append((field, value)) }
      }
    }
    return remember(key, HTTP2RequestHead(method: method, authority: authority, fields: fields))
  }

  /// The head of a request that was made here.
  mutating func head(_ fields: [(name: String, value: String)], _ name: String) -> HTTP2RequestHead {
    let key = Array((fields.map { "\($0.name):\($0.value)" } + [name]).joined(separator: "\n").utf8)
    if let head = known[key] { return head }
    return remember(key, HTTP2RequestHead(authority: name, fields: fields))
  }

  private mutating func remember(_ key: [UInt8], _ head: HTTP2RequestHead) -> HTTP2RequestHead {
    if known.count >= Self.limit { known.removeAll(keepingCapacity: true) }
    known[key] = head
    return head
  }
}

/// The identifier of a frame, for reports.
enum FrameIdentifier {
  static func of(_ frame: UnsafeRawBufferPointer) -> UInt32? {
    guard case .notification(let notification) = LegacyFrameParser.next(in: frame),
      notification.command != .simple
    else { return nil }
    return notification.identifier
  }
}
