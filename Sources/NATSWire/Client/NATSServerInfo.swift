import Basics

/// What a server says of itself before anything else, and again when that changes. Members that a client does not need are
/// passed over.
package struct NATSServerInfo: Equatable, Sendable {
  package var serverName = ""
  package var hasJetStream = false
  package var hasHeaders = false
  /// Whether TLS begins behind this line.
  package var needsTLS = false
  /// Whether TLS may begin there.
  package var offersTLS = false
  /// Largest message, in bytes.
  package var maximumPayload = 1 << 20
  /// What a client signs that has a key of its own.
  package var nonce: String?
  /// It is about to stop: clients should go elsewhere.
  package var isLeaving = false

  package init() {}

  package init(json: [UInt8]) throws(NATSFailure) {
    guard case .object(let members)? = JSONReader.read(json) else {
      throw .malformed("an INFO that is no JSON object")
    }
    for (name, value) in members {
      switch (name, value) {
      case ("server_name", .string(let text)): serverName = text
      case ("jetstream", .bool(let isOn)): hasJetStream = isOn
      case ("headers", .bool(let isOn)): hasHeaders = isOn
      case ("tls_required", .bool(let isOn)): needsTLS = isOn
      case ("tls_available", .bool(let isOn)): offersTLS = isOn
      case ("ldm", .bool(let isOn)): isLeaving = isOn
      case ("nonce", .string(let text)): nonce = text
      case ("max_payload", .integer(let count)) where count > 0: maximumPayload = Int(count)
      case ("max_payload", _), ("nonce", _), ("jetstream", _), ("headers", _), ("tls_required", _):
        throw .malformed("an INFO whose \(name) is \(value.text.prefix(40))")
      default: break
      }
    }
  }
}
