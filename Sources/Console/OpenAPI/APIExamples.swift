import PushModel
import Transport

/// What requests look like and what comes back, for the API's description.
enum APIExamples {
  static let metrics: JSONValue = "# TYPE apns_emulator_devices gauge\napns_emulator_devices 1\n"
  static let events: JSONValue = "retry: 1000\n\nid: x-1\nevent: reset\ndata: {\"event\":\"reset\"}\n\n"
  static let page: JSONValue = "<html><head></head><body>…</body></html>"

  /// The body of a request that may be any.
  static func body(_ route: Route) -> JSONValue {
    route.pattern.text == "/3/device/{token}" ? JSONExample.payload : .string(activationForm)
  }

  /// Apple's refusals of one status; where the console refuses as well, the words may be its own.
  static func reason(_ status: Int) -> JSONSchema {
    let rejection = Rejection.allCases.first { $0.status == status }
    let reason = ("reason", JSONValue.optional(rejection?.reason))
    let schema = JSONSchema(
      "Reason",
      [
        "type": "object", "required": ["reason"],
        "properties": ["reason": .words(JSONValue.reasons), "timestamp": ["type": "integer"]],
      ], example: .object(status == 410 ? [reason, ("timestamp", 1_767_323_045_678)] : [reason]))
    guard status == 400 || status == 403 else { return schema }
    let error = HTTPResponse.error.schema
    return JSONSchema(
      nil, ["oneOf": [schema.reference, error.reference]], example: schema.example,
      parts: [schema, error])
  }

  /// The console's own refusal.
  static func error(_ status: Int) -> JSONSchema {
    let (code, message) =
      switch status {
      case 401: ("unauthorized", "this console asks for its access token")
      case 403: ("forbidden", "the origin \"http://example.com\" may not do this")
      case 404: ("notFound", "no device phone-1 has been seen; installing an app on it makes it known")
      case 409: ("conflict", "there are too many topics")
      case 413: ("bodyTooLarge", "the body is larger than 16777216 bytes")
      case 415:
        ("unsupportedMediaType", "the body: expected Content-Type application/json, got \"text/plain\"")
      case 503: ("unavailable", "800 clients are waiting already")
      default: ("badRequest", "limit: expected a number from 1 to 10000, got \"0\"")
      }
    return HTTPResponse.error.schema.showing(HTTPResponse.error.write((code, message)))
  }

  // MARK: Activation

  /// What a device posts (`Documentation/device-protocol.md#activation`): a property list in a form, with another one
  /// in it that has the certificate request.
  private static var activationForm: String {
    let information = plist(
      "<key>UniqueDeviceID</key><string>phone-1</string>" + data("DeviceCertRequest", csr))
    return "activation-info=" + percentEncoded(plist(data("ActivationInfoXML", information)))
  }

  private static func plist(_ members: String) -> String {
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?><plist version=\"1.0\"><dict>\(members)</dict></plist>"
  }

  private static func data(_ name: String, _ text: String) -> String {
    "<key>\(name)</key><data>\(Base64.encode(Array(text.utf8)))</data>"
  }

  private static func percentEncoded(_ text: String) -> String {
    text.utf8.map { byte in
      let isPlain = Character(Unicode.Scalar(byte)).isLetter || Character(Unicode.Scalar(byte)).isNumber
      return isPlain ? String(Unicode.Scalar(byte)) : "%" + Hex.encode([byte])
    }.joined()
  }

  /// For a key that nobody has any more.
  private static let csr = """
    -----BEGIN CERTIFICATE REQUEST-----
    MIIBUTCBuwIBADASMRAwDgYDVQQDDAdwaG9uZS0xMIGfMA0GCSqGSIb3DQEBAQUA
    A4GNADCBiQKBgQCnlp+KAyNrP/UI8baeYh4GUV+upWyoQJGPl++zlxELtq5g8di3
    3ABhvGNhaIZlE+/ONwLvbT5kdwCDCzPO7qm+c/faIiOw0ioBFbt8HvkZw70KTB/r
    I9GslEopLh2ZoI0Imsj2664ctkwJ49M820BDS4Wo9iX10qvRqqEGzAsIvwIDAQAB
    oAAwDQYJKoZIhvcNAQELBQADgYEAYNQk2D1v7v6vZLioKiNXix/7AGuSllaA8fhc
    z7QnUopcUK5hYtMaG42s9XRRZUjiTTEBkJcptYRxF5iAMxYlqRRWQPsc6SoVLI+8
    /YjCx+EeqI36zRNoqPk0Livjt3vFhBfMPxKMjaPlz4CyXNJkxmTKt3fBJKOdYDjO
    g5IPZjc=
    -----END CERTIFICATE REQUEST-----

    """
}
