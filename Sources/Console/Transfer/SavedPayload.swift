import PushModel

/// A payload in a document: as JSON where reading it gives the same bytes again, else as Base64.
enum SavedPayload {
  static func json(_ payload: [UInt8]) -> (String, JSONValue) {
    let value = JSONReader.read(payload, maximumDepth: JSONObject.bodyDepth / 2)
    guard let value, value.encoded == payload else {
      return ("payloadBase64", .string(Base64.encode(payload)))
    }
    return ("payload", value)
  }

  /// Reads `payload` or `payloadBase64`; nil if there is neither.
  static func read(_ object: JSONObject) throws -> [UInt8]? {
    let base64 = try object.text("payloadBase64", "Base64") { Base64.decode($0.utf8) }
    guard let value = object["payload"] else { return base64 }
    guard base64 == nil else {
      throw ConsoleError.badRequest(
        "\(object.path("payload")): expected no payloadBase64 beside it, got both")
    }
    return value.encoded
  }
}
