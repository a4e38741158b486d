import Basics
import COpenSSL
import Platform

/// An OpenSSL context for one listener, or for all clients of one kind. Owns a reference to OpenSSL's part, as each connection that is
/// made from it does.
@safe public final class TLSContext {
  let pointer: OpaquePointer
  let policy: TLSPolicy

  /// A server with one identity for each kind of key: clients get the one that their signature algorithms and cipher suites name
  /// first.
  public static func server(_ identities: [TLSIdentity], policy: TLSPolicy) throws -> TLSContext {
    let context = try TLSContext(isServer: true, policy)
    for identity in identities { try unsafe identity.use(in: context.pointer) }
    return context
  }

  /// A server with its certificate chain and key, both PEM.
  public static func server(certificate: String, key: String, policy: TLSPolicy) throws -> TLSContext {
    try server([TLSIdentity(certificate: certificate, key: key)], policy: policy)
  }

  /// A client; trusts `ca` (PEM), or nobody in particular if nil, and may bring a certificate.
  public static func client(
    ca: String?, certificate: String? = nil, key: String? = nil, policy: TLSPolicy
  ) throws -> TLSContext {
    let identity = try certificate.flatMap { certificate in
      try key.map { try TLSIdentity(certificate: certificate, key: $0) }
    }
    return try client(ca: ca, identity, policy)
  }

  /// The same with a certificate chain and its key as PEM text.
  public static func client(
    ca: String, certificatePEM: [UInt8], keyPEM: [UInt8], policy: TLSPolicy
  ) throws -> TLSContext {
    try client(ca: ca, TLSIdentity(certificatePEM: certificatePEM, keyPEM: keyPEM), policy)
  }

  private static func client(
    ca: String?, _ identity: TLSIdentity?, _ policy: TLSPolicy
  ) throws -> TLSContext {
    let context = try TLSContext(isServer: false, policy)
    try unsafe identity?.use(in: context.pointer)
    guard let ca else { return context }
    guard unsafe SSL_CTX_load_verify_locations(context.pointer, ca, nil) == 1 else {
      throw TLSError.drained("read CA \(ca)")
    }
    context.verifyPeer(SSL_VERIFY_PEER)
    return context
  }

  /// A client that trusts whom the system trusts.
  public static func clientOfSystemTrust(policy: TLSPolicy) throws -> TLSContext {
    let context = try TLSContext(isServer: false, policy)
    guard unsafe SSL_CTX_set_default_verify_paths(context.pointer) == 1 else {
      throw TLSError.drained("read the CAs of the system")
    }
    context.verifyPeer(SSL_VERIFY_PEER)
    return context
  }

  private init(isServer: Bool, _ policy: TLSPolicy) throws {
    guard let pointer = unsafe SSL_CTX_new(isServer ? TLS_server_method() : TLS_client_method()) else {
      throw TLSError.drained("make TLS context")
    }
    unsafe (self.pointer, self.policy) = unsafe (pointer, policy)
    set(SSL_CTRL_SET_MIN_PROTO_VERSION, Int(policy.minimum.rawValue))
    set(SSL_CTRL_SET_MAX_PROTO_VERSION, Int(policy.maximum.rawValue))
    set(
      SSL_CTRL_MODE,
      Int(SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS))
    if policy.allowsOldCiphers {
      unsafe SSL_CTX_set_security_level(pointer, 0)
      unsafe SSL_CTX_set_cipher_list(pointer, "ALL:!aNULL:!eNULL:@SECLEVEL=0")
    }
    if policy.readAhead > 0 {
      set(SSL_CTRL_SET_READ_AHEAD, 1)
      unsafe SSL_CTX_set_default_read_buffer_len(pointer, policy.readAhead)
    }
    if isServer { configureServer() }
    guard unsafe TLSCallbacks.install(policy, in: pointer, isServer: isServer) else {
      throw TLSError.drained("make TLS context")
    }
  }

  deinit { unsafe SSL_CTX_free(pointer) }

  /// OpenSSL's state of the connection on a socket, for the caller to free.
  func makeConnection(_ descriptor: Int32, isServer: Bool) throws -> OpaquePointer {
    guard let ssl = unsafe SSL_new(pointer) else { throw TLSError.drained("make TLS connection") }
    unsafe SSL_set_fd(ssl, descriptor)
    if isServer { unsafe SSL_set_accept_state(ssl) } else { unsafe SSL_set_connect_state(ssl) }
    return unsafe ssl
  }

  /// No session tickets and no session cache: clients that `select()` before a read mistake a TLS 1.3 ticket for
  /// data (`Documentation/binary-protocol.md#what-clients-do`), and every connection must show its certificate.
  private func configureServer() {
    unsafe SSL_CTX_set_options(pointer, shim_SSL_OP_NO_TICKET | shim_SSL_OP_NO_RENEGOTIATION)
    unsafe SSL_CTX_set_num_tickets(pointer, 0)
    set(SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_OFF))
    verifyPeer(policy.clientCertificate.mode)
  }

  private func set(_ command: Int32, _ value: Int) { unsafe SSL_CTX_ctrl(pointer, command, value, nil) }

  private func verifyPeer(_ mode: Int32) { unsafe SSL_CTX_set_verify(pointer, mode, nil) }
}

/// How a server chooses among the protocol names that a client offers (RFC 7301).
public struct ALPNChoice {
  let choose: (_ offers: [String]) -> String?
  let clientCertificate: (_ name: String) -> TLSPolicy.ClientCertificate?

  /// `choose` answers one of the names or none. `clientCertificate` says what a name makes of `TLSPolicy.clientCertificate`; nil leaves
  /// it. Channel management shares the gateway's port, and its clients may bring a provider token instead
  /// (`Documentation/provider-api.md#channel-management`); newer devices show their certificate inside
  /// (`Documentation/device-protocol.md#transport`).
  public init(
    clientCertificate: @escaping (_ name: String) -> TLSPolicy.ClientCertificate? = { _ in nil },
    _ choose: @escaping (_ offers: [String]) -> String?
  ) { (self.choose, self.clientCertificate) = (choose, clientCertificate) }

  /// HTTP/2 or nothing.
  public static func http2(clientCertificate: TLSPolicy.ClientCertificate? = nil) -> ALPNChoice {
    ALPNChoice(clientCertificate: { _ in clientCertificate }) { $0.contains("h2") ? "h2" : nil }
  }
}

/// The list of protocol names in an ALPN offer: each a length byte and that many bytes (RFC 7301).
public struct ALPNList {
  public private(set) var names: [String] = []
  private var ranges: [Range<Int>] = []

  /// Reads as many whole names as there are.
  public init(_ bytes: Span<UInt8>) {
    var position = 0
    while position < bytes.count {
      let range = position + 1..<position + 1 + Int(bytes[position])
      guard range.upperBound <= bytes.count else { return }
      names.append(bytes.extracting(range).text)
      ranges.append(range)
      position = range.upperBound
    }
  }

  public func range(of name: String) -> Range<Int>? { names.firstIndex(of: name).map { ranges[$0] } }

  /// The offer that a client makes of `names`.
  public static func encode(_ names: [String]) -> [UInt8] {
    names.flatMap { [UInt8(truncatingIfNeeded: $0.utf8.count)] + Array($0.utf8) }
  }
}

/// A failure of the TLS layer, in words for the log.
public struct TLSError: Error, CustomStringConvertible, Sendable {
  public var operation: String
  public var sentence: String

  /// Empties OpenSSL's error queue into one sentence.
  static func drained(_ operation: String) -> TLSError {
    var sentences: [String] = []
    while case let code = ERR_get_error(), code != 0 {
      unsafe sentences.append(
        ERR_reason_error_string(code).map { unsafe String(cString: $0) } ?? "error \(code)")
    }
    return TLSError(
      operation: operation, sentence: sentences.isEmpty ? "no detail" : sentences.joined(separator: ", "))
  }

  public var description: String { "\(operation): \(sentence)" }
}

/// What a TLS endpoint offers and asks for.
public struct TLSPolicy {
  /// Protocol versions by their wire numbers.
  public enum Version: Int32, Sendable {
    case tls10 = 0x0301
    case tls11 = 0x0302
    case tls12 = 0x0303
    case tls13 = 0x0304
  }

  /// Whether the server asks its client for a certificate.
  public enum ClientCertificate: Sendable {
    case none, optional, required

    /// OpenSSL's word for it.
    var mode: Int32 {
      switch self {
      case .none: SSL_VERIFY_NONE
      case .optional: SSL_VERIFY_PEER
      case .required: SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT
      }
    }
  }

  /// What a peer's certificate chain is worth: nil accepts it, otherwise the X.509 error code (`X509_V_ERR_…`)
  /// that selects the TLS alert.
  public typealias ChainCheck = (_ leaf: [UInt8], _ intermediates: [[UInt8]]) -> Int32?

  public var minimum = Version.tls12
  public var maximum = Version.tls13
  /// Old ciphers and signatures too, as clients of the time need them (OpenSSL security level 0).
  public var allowsOldCiphers = false
  public var clientCertificate = ClientCertificate.none
  public var chainCheck: ChainCheck?
  /// What a server agrees on of the names that its clients offer; nil for no name at all.
  public var protocols: ALPNChoice?
  /// Read ahead by this many bytes; 0 asks the system for the head of each record and then for its body. Memory for it is
  /// held while something is unread.
  public var readAhead = 0
  /// Peers send a little now and then: behind a read that gave little, the socket is not asked for more until it tells of
  /// it. One that streams would be read in smaller pieces so.
  public var peersSayLittle = false
  /// How long the TLS close keeps off the data before it, in nanoseconds, unless the peer ends first. Two libraries of Go
  /// that find both in one read drop the data: an error packet, tuples of the feedback service.
  public var closeDelay: Int64 = 0
  /// A client that comes by the thousand looks through a server's chain once, and then believes the very same certificate
  /// under the same name: what each look leaves behind in the certificate is some 2 KiB a connection.
  public var remembersServer = false

  public init() {}
}
