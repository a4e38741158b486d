import Basics
import Platform

/// What a node says of itself and of a connection that it has made to another node.
///
/// In a line it is a document in JSON; what can't be read is nil, as nobody who knows the secret writes it.
package struct NodeHello: Equatable, Sendable {
  /// Of what nodes say to each other, hello included. Nodes of different versions don't talk.
  package static let version = 1
  /// Most bytes of a document: a certificate of `EdgeDevice.certificateLimit` in Base64, and the names.
  static let byteLimit = 24 << 10
  /// Most bytes of a node's name.
  static let nameLimit = 255

  /// What the connection is for.
  package enum Kind: Equatable, Sendable {
    /// Pushes, their verdicts, and what else two nodes have to tell each other.
    case link
    /// Plain HTTP/1.1 for the other node's console.
    case console
    /// Bytes of the device protocol, from behind TLS.
    case device(EdgeDevice)

    /// As it is called in the document and in logs.
    package var word: String {
      switch self {
      case .link: "link"
      case .console: "console"
      case .device: "device"
      }
    }
  }

  /// The name of the node that has made the connection.
  package var caller: String
  package var kind: Kind

  package init(caller: String, kind: Kind) { (self.caller, self.kind) = (caller, kind) }

  /// nil if there is more to say than the other takes.
  package var document: [UInt8]? {
    var members: [(String, JSONValue)] = [("kind", .string(kind.word)), ("node", .string(caller))]
    if case .device(let device) = kind { members += device.members }
    let bytes = JSONValue.object(members).encoded
    return bytes.count <= Self.byteLimit ? bytes : nil
  }

  package init?(document: [UInt8]) {
    guard document.count <= Self.byteLimit, let value = JSONReader.read(document),
      let caller = value.string("node"), !caller.isEmpty, caller.utf8.count <= Self.nameLimit
    else { return nil }
    self.caller = caller
    switch value.string("kind") {
    case "link": kind = .link
    case "console": kind = .console
    case "device":
      guard let device = EdgeDevice(value) else { return nil }
      kind = .device(device)
    default: return nil
    }
  }
}

/// What the node that a device has connected to knows of the connection, for the node that the device belongs to.
package struct EdgeDevice: Equatable, Sendable {
  /// Most bytes of a certificate. The identity of a device takes 1 KiB.
  package static let certificateLimit = 16 << 10

  /// The name by which the device wanted to have the server.
  package var requestedName: String?
  /// What was agreed on by ALPN.
  package var alpn: String?
  package var remoteAddress: SocketAddress
  /// DER of the certificate that the device has shown in the handshake.
  package var certificate: [UInt8]?

  package init(requestedName: String?, alpn: String?, remoteAddress: SocketAddress, certificate: [UInt8]?) {
    (self.requestedName, self.alpn) = (requestedName, alpn)
    (self.remoteAddress, self.certificate) = (remoteAddress, certificate)
  }

  fileprivate var members: [(String, JSONValue)] {
    [
      ("host", .string(remoteAddress.host)), ("port", .integer(Int64(remoteAddress.port))),
      ("name", .optional(requestedName)), ("alpn", .optional(alpn)),
      ("certificate", .optional(certificate.map { Base64.encode($0) })),
    ]
  }

  fileprivate init?(_ value: JSONValue) {
    guard let host = value.string("host"), case .integer(let number)? = value.member("port"),
      let port = UInt16(exactly: number)
    else { return nil }
    remoteAddress = SocketAddress(host: host, port: port)
    (requestedName, alpn) = (value.string("name"), value.string("alpn"))
    if let text = value.string("certificate") {
      guard let bytes = Base64.decode(text.utf8), bytes.count <= Self.certificateLimit else { return nil }
      certificate = bytes
    }
  }
}
