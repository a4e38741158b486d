import PushModel

/// What a server says of itself before anything else, and again when that changes. Members that a client does not need are
/// passed over.
public struct NATSServerInfo: Equatable, Sendable {
  public var serverName: String
  public var version: String
  public var hasJetStream: Bool
  public var hasHeaders: Bool
  /// Whether nobody is let in without credentials.
  public var needsCredentials: Bool
  /// Whether TLS begins behind this line.
  public var needsTLS: Bool
  /// Whether TLS may begin there.
  public var offersTLS: Bool
  /// Largest message, in bytes.
  public var maximumPayload: Int
  /// What a client signs that has a key of its own.
  public var nonce: String?
  /// Other servers of the same cluster, `host:port`.
  public var otherServers: [String]
  /// It is about to stop: clients should go elsewhere.
  public var isLeaving: Bool

  public init(
    serverName: String = "", version: String = "", hasJetStream: Bool = true, hasHeaders: Bool = true,
    needsCredentials: Bool = false, needsTLS: Bool = false, offersTLS: Bool = false,
    maximumPayload: Int = 1 << 20,
    nonce: String? = nil,
    otherServers: [String] = [], isLeaving: Bool = false
  ) {
    (self.serverName, self.version, self.hasJetStream) = (serverName, version, hasJetStream)
    (self.hasHeaders, self.needsCredentials, self.needsTLS) = (hasHeaders, needsCredentials, needsTLS)
    (self.offersTLS, self.maximumPayload, self.nonce) = (offersTLS, maximumPayload, nonce)
    (self.otherServers, self.isLeaving) = (otherServers, isLeaving)
  }

  init(json: [UInt8]) throws(NATSFailure) {
    guard case .object(let members)? = JSONReader.read(json) else {
      throw .malformed("an INFO that is no JSON object")
    }
    self.init(hasJetStream: false, hasHeaders: false)
    for (name, value) in members {
      switch (name, value) {
      case ("server_name", .string(let text)): serverName = text
      case ("version", .string(let text)): version = text
      case ("jetstream", .bool(let isOn)): hasJetStream = isOn
      case ("headers", .bool(let isOn)): hasHeaders = isOn
      case ("auth_required", .bool(let isOn)): needsCredentials = isOn
      case ("tls_required", .bool(let isOn)): needsTLS = isOn
      case ("tls_available", .bool(let isOn)): offersTLS = isOn
      case ("ldm", .bool(let isOn)): isLeaving = isOn
      case ("nonce", .string(let text)): nonce = text
      case ("max_payload", .integer(let count)) where count > 0: maximumPayload = Int(count)
      case ("connect_urls", .array(let servers)):
        otherServers = servers.compactMap { if case .string(let text) = $0 { text } else { nil } }
      case ("max_payload", _), ("nonce", _), ("jetstream", _), ("headers", _), ("tls_required", _):
        throw .malformed("an INFO whose \(name) is \(value.text.prefix(40))")
      default: break
      }
    }
  }
}
