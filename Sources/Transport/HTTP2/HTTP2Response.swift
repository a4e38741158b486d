import PushModel

/// An answer to one request.
public struct HTTP2Response: Sendable {
  public static let explanationField: StaticString = "apns-emulator-explanation"

  public var status: Int
  /// Goes out as `idField` says: `apns-id`, or `apns-request-id` for channels.
  public var apnsID: APNSID?
  public var idField = ProviderField.apnsId
  /// Goes out as `apns-unique-id`; only the sandbox sends it (`Documentation/provider-api.md#response`).
  public var uniqueID: APNSID?
  /// What an accepted push has nothing of: a single reference, as answers are copied on their way.
  private(set) var rest: Rest?

  final class Rest: Sendable {
    let explanation: Explanation?
    let fields: [(name: String, value: String)]
    let body: [UInt8]

    init(_ explanation: Explanation?, _ fields: [(name: String, value: String)], _ body: [UInt8]) {
      (self.explanation, self.fields, self.body) = (explanation, fields, body)
    }
  }

  /// Why the request was refused: goes out as `apns-emulator-explanation`, which Apple does not have.
  public var explanation: Explanation? {
    get { rest?.explanation }
    set { rest = Rest(newValue, fields, body) }
  }
  /// Further fields, names in lower case. Characters that no field may hold are replaced on sending.
  public var fields: [(name: String, value: String)] {
    get { rest?.fields ?? [] }
    set { rest = Rest(explanation, newValue, body) }
  }
  /// JSON, or nothing. Kept, not copied, until it is sent.
  public var body: [UInt8] {
    get { rest?.body ?? [] }
    set { rest = Rest(explanation, fields, newValue) }
  }

  public init(
    status: Int, apnsID: APNSID? = nil, uniqueID: APNSID? = nil, body: [UInt8] = []
  ) {
    (self.status, self.apnsID, self.uniqueID) = (status, apnsID, uniqueID)
    if !body.isEmpty { rest = Rest(nil, [], body) }
  }

  /// The fields that are text, for a transport of another kind.
  public var textFields: [(name: String, value: String)] {
    guard let explanation else { return fields }
    var buffer = TextBuffer()
    explanation.write(to: &buffer)
    buffer.makeVisible(limit: HTTP2AnswerBuffer.explanationLimit)
    return fields + [(Self.explanationField.description, buffer.text)]
  }
}

extension HTTP2FieldList {
  /// The fields that every answer has, in their cheapest form. `buffer` keeps them until they are sent.
  mutating func set(_ response: HTTP2Response, _ buffer: HTTP2AnswerBuffer) {
    removeAll()
    if response.status == 200 {
      add(.status, "200")
    } else {
      add(.status, buffer.status(response.status), isIndexed: true)
    }
    if let id = response.apnsID { addID(response.idField, buffer.id(id)) }
    if let id = response.uniqueID { addID(.apnsUniqueId, buffer.uniqueID(id)) }
  }

  /// The others, but for those that are text.
  mutating func set(_ rest: HTTP2Response.Rest, _ buffer: HTTP2AnswerBuffer) {
    if !rest.body.isEmpty { add(.contentType, "application/json") }
    if let explanation = rest.explanation {
      add(name: HTTP2Response.explanationField, buffer.explanation(explanation), isIndexed: true)
    }
  }
}

/// Keeps the bytes of an answer where they are until nghttp2 has sent them: it is given pointers, not copies.
final class HTTP2AnswerBuffer {
  /// Room for one status and two message ids.
  private static let statusOffset = 0
  private static let idOffset = 8
  private static let uniqueOffset = 48
  private static let size = 88
  /// Most of an explanation that its field carries, in bytes: some clients have little room for header fields.
  static let explanationLimit = 400

  private let scratch = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 8)
  private var explanation: TextBuffer?
  private var body: [UInt8] = []
  private var sent = 0

  deinit { scratch.deallocate() }

  func reset() { setBody([]) }

  /// Length of the body, in bytes.
  var bodyBytes: Int { body.count }

  func setBody(_ bytes: [UInt8]) { (body, sent) = (bytes, 0) }

  /// The three digits of `status`.
  func status(_ status: Int) -> UnsafeRawBufferPointer {
    let digits = scratch + Self.statusOffset
    for (index, scale) in [100, 10, 1].enumerated() {
      digits.storeBytes(
        of: 48 + UInt8(truncatingIfNeeded: status / scale % 10), toByteOffset: index, as: UInt8.self)
    }
    return UnsafeRawBufferPointer(start: digits, count: 3)
  }

  func id(_ id: APNSID) -> UnsafeRawBufferPointer { write(id, at: Self.idOffset) }
  func uniqueID(_ id: APNSID) -> UnsafeRawBufferPointer { write(id, at: Self.uniqueOffset) }

  /// The line that explains a refusal: in visible ASCII, and not too much of it.
  func explanation(_ facts: Explanation) -> UnsafeRawBufferPointer {
    var text = explanation.take() ?? TextBuffer()
    text.removeAll()
    facts.write(to: &text)
    text.makeVisible(limit: Self.explanationLimit)
    let bytes = text.bytes
    explanation = consume text
    return bytes
  }

  /// Copies the next part of the body; answers its length and whether it was the last.
  func read(into destination: UnsafeMutableRawBufferPointer) -> (count: Int, isLast: Bool) {
    let count = min(destination.count, body.count - sent)
    body.withUnsafeBytes {
      destination.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[sent..<sent + count]))
    }
    sent += count
    return (count, sent == body.count)
  }

  private func write(_ id: APNSID, at offset: Int) -> UnsafeRawBufferPointer {
    id.write(to: scratch + offset)
    return UnsafeRawBufferPointer(start: scratch + offset, count: APNSID.textByteCount)
  }
}
