import PushModel

/// A payload in a document: as JSON where reading it gives the same bytes again, else as Base64.
enum SavedPayload {
  static func fields<Root>(_ path: WritableKeyPath<Root, [UInt8]> & Sendable) -> [JSONField<Root>] {
    [
      JSONField("payload", .any, get: { json($0[keyPath: path]) }, set: { $0[keyPath: path] = $1.encoded }),
      JSONField(
        "payloadBase64", .base64, get: { json($0[keyPath: path]) == nil ? $0[keyPath: path] : nil },
        set: { $0[keyPath: path] = $1 }),
    ]
  }

  private static func json(_ payload: [UInt8]) -> JSONValue? {
    let value = JSONReader.read(payload, maximumDepth: JSONObject.bodyDepth / 2)
    return value.flatMap { $0.encoded == payload ? $0 : nil }
  }

  /// Throws where there are both.
  static func check(_ object: JSONObject) throws(DocumentError) {
    guard object["payload"] == nil || object["payloadBase64"] == nil else {
      throw DocumentError("\(object.path("payload")): expected no payloadBase64 beside it, got both")
    }
  }
}
