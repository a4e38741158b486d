import Basics
import Capture
import LegacyWire
import PushModel
import Transport

/// A push of the capture with what is known of its connection.
struct RecordedPush {
  var entry: CaptureEntry
  var batch: CaptureBatch
  var connection: CapturedConnection
  var tag: Int

  var content: Span<UInt8> {
    @_lifetime(borrow self) get { batch.content(entry) }
  }
  var fields: Span<UInt8> {
    @_lifetime(borrow self) get { batch.fields(entry) }
  }
  var path: String { batch.path(entry).text }
  var outcome: CapturedOutcome { batch.outcome(entry) }
  var form: OutcomeComparison.Form { entry.kind == .frame ? .legacy : .http }

  /// Of a frame, for reports.
  var identifier: UInt32? {
    guard case .notification(let frame) = LegacyFrameParser.next(in: content),
      frame.command != .simple
    else {
      return nil
    }
    return frame.identifier
  }

  /// The topic that it is for: the certificate's on the binary protocol, else the one it names.
  var topic: String? {
    guard entry.kind == .request else { return connection.topic }
    let named = FieldBlock.value(of: "apns-topic", in: fields)
    return named.isEmpty ? connection.topic : named.text
  }
}

extension HTTP2RequestHead {
  /// The head of a recorded request, with another authorization and topic.
  init(of push: RecordedPush, authorization: String?, _ name: String, _ mapping: ReplayMapping) {
    var (authority, fields): (String, [(name: String, value: String)]) = (name, [])
    FieldBlock.forEach(in: push.fields) { field, value in
      let (field, value) = (field.text, value.text)
      switch field {
      case "authorization": if let authorization { fields.append((field, authorization)) }
      case "apns-topic": fields.append((field, mapping.topic(value)))
      case ":authority": authority = value
      case "host", "content-length": break
      default: if !field.hasPrefix(":") { fields.append((field, value)) }
      }
    }
    let method = push.batch.method(push.entry).text
    self.init(method: method, authority: authority, fields: fields)
  }
}
