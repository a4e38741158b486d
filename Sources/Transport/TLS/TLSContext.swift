import COpenSSL
import Platform

/// An OpenSSL context for one listener, or for all clients of one kind.
public final class TLSContext {
  let pointer: OpaquePointer
  let policy: TLSPolicy
  /// The certificate and the name that were believed last, for `TLSPolicy.remembersServer`.
  fileprivate var believed: (leaf: [UInt8], name: String)?

  /// A server with one identity for each kind of key: clients get the one that their signature algorithms and cipher suites name
  /// first.
  public static func server(_ identities: [TLSIdentity], policy: TLSPolicy) throws -> TLSContext {
    let context = try TLSContext(TLS_server_method(), policy)
    for identity in identities { try identity.use(in: context.pointer) }
    context.configureServer()
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
    let context = try TLSContext(TLS_client_method(), policy)
    if let certificate, let key {
      try TLSIdentity(certificate: certificate, key: key).use(in: context.pointer)
    }
    guard let ca else { return context }
    guard SSL_CTX_load_verify_locations(context.pointer, ca, nil) == 1 else {
      throw TLSError.drained("read CA \(ca)")
    }
    SSL_CTX_set_verify(context.pointer, SSL_VERIFY_PEER, nil)
    if policy.remembersServer {
      SSL_CTX_set_cert_verify_callback(
        context.pointer, checkOnce, Unmanaged.passUnretained(context).toOpaque())
    }
    return context
  }

  /// The same with a certificate chain and its key as PEM text.
  public static func client(
    ca: String, certificatePEM: [UInt8], keyPEM: [UInt8], policy: TLSPolicy
  ) throws -> TLSContext {
    let context = try client(ca: ca, policy: policy)
    try TLSIdentity(certificatePEM: certificatePEM, keyPEM: keyPEM).use(in: context.pointer)
    return context
  }

  /// A client that trusts whom the system trusts.
  public static func clientOfSystemTrust(policy: TLSPolicy) throws -> TLSContext {
    let context = try TLSContext(TLS_client_method(), policy)
    guard SSL_CTX_set_default_verify_paths(context.pointer) == 1 else {
      throw TLSError.drained("read the CAs of the system")
    }
    SSL_CTX_set_verify(context.pointer, SSL_VERIFY_PEER, nil)
    return context
  }

  private init(_ method: OpaquePointer?, _ policy: TLSPolicy) throws {
    guard let pointer = SSL_CTX_new(method) else { throw TLSError.drained("make TLS context") }
    self.pointer = pointer
    self.policy = policy
    SSL_CTX_ctrl(pointer, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(policy.minimum.rawValue), nil)
    SSL_CTX_ctrl(pointer, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(policy.maximum.rawValue), nil)
    let modes = SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS
    SSL_CTX_ctrl(pointer, SSL_CTRL_MODE, Int(modes), nil)
    if policy.allowsOldCiphers {
      SSL_CTX_set_security_level(pointer, 0)
      SSL_CTX_set_cipher_list(pointer, "ALL:!aNULL:!eNULL:@SECLEVEL=0")
    }
    if policy.readAhead > 0 {
      SSL_CTX_ctrl(pointer, SSL_CTRL_SET_READ_AHEAD, 1, nil)
      SSL_CTX_set_default_read_buffer_len(pointer, policy.readAhead)
    }
  }

  deinit {
    // Connections that outlive this object keep OpenSSL's part, and look for themselves from now on.
    if policy.remembersServer { SSL_CTX_set_cert_verify_callback(pointer, nil, nil) }
    SSL_CTX_free(pointer)
  }

  /// No session tickets and no session cache: clients that `select()` before a read mistake a TLS 1.3 ticket for
  /// data (`Documentation/binary-protocol.md#what-clients-do`), and every connection must show its certificate.
  private func configureServer() {
    SSL_CTX_set_options(pointer, shim_SSL_OP_NO_TICKET | shim_SSL_OP_NO_RENEGOTIATION)
    SSL_CTX_set_num_tickets(pointer, 0)
    SSL_CTX_ctrl(pointer, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_OFF), nil)
    SSL_CTX_set_verify(pointer, verifyMode(policy.clientCertificate), nil)
    // The context is owned by its listener and outlives every connection made from it.
    let owner = Unmanaged.passUnretained(self).toOpaque()
    if policy.chainCheck != nil { SSL_CTX_set_cert_verify_callback(pointer, checkChain, owner) }
    if policy.protocols != nil { SSL_CTX_set_alpn_select_cb(pointer, chooseALPN, owner) }
  }

  func verifyMode(_ wanted: TLSPolicy.ClientCertificate) -> Int32 {
    switch wanted {
    case .none: SSL_VERIFY_NONE
    case .optional: SSL_VERIFY_PEER
    case .required: SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT
    }
  }
}

/// OpenSSL asks whether the client's chain is good.
private func checkChain(_ store: OpaquePointer?, _ argument: UnsafeMutableRawPointer?) -> Int32 {
  guard let store, let argument else { return 0 }
  let context = Unmanaged<TLSContext>.fromOpaque(argument).takeUnretainedValue()
  guard let check = context.policy.chainCheck else { return 0 }
  let chain = X509_STORE_CTX_get0_untrusted(store)
  let intermediates = (0..<max(0, OPENSSL_sk_num(chain))).compactMap {
    derEncoding(OpaquePointer(OPENSSL_sk_value(chain, $0)))
  }
  guard let leaf = derEncoding(X509_STORE_CTX_get0_cert(store)) else { return 0 }
  guard let error = check(leaf, intermediates) else { return 1 }
  X509_STORE_CTX_set_error(store, error)
  return 0
}

/// OpenSSL asks a client that comes often whether the server's chain is good.
private func checkOnce(_ store: OpaquePointer?, _ argument: UnsafeMutableRawPointer?) -> Int32 {
  guard let store, let argument else { return 0 }
  let context = Unmanaged<TLSContext>.fromOpaque(argument).takeUnretainedValue()
  guard let leaf = derEncoding(X509_STORE_CTX_get0_cert(store)) else { return 0 }
  let host = X509_VERIFY_PARAM_get0_host(X509_STORE_CTX_get0_param(store), 0)
  let name = host.map { String(cString: $0) } ?? ""
  if let believed = context.believed, believed == (leaf, name) { return 1 }
  guard X509_verify_cert(store) == 1 else { return 0 }
  context.believed = (leaf, name)
  return 1
}

/// OpenSSL asks for one of the protocol names that the client offers.
private func chooseALPN(
  _ ssl: OpaquePointer?, _ output: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
  _ outputLength: UnsafeMutablePointer<UInt8>?, _ input: UnsafePointer<UInt8>?, _ inputLength: UInt32,
  _ argument: UnsafeMutableRawPointer?
) -> Int32 {
  guard let ssl, let output, let outputLength, let input, let argument else { return SSL_TLSEXT_ERR_NOACK }
  let context = Unmanaged<TLSContext>.fromOpaque(argument).takeUnretainedValue()
  let offers = ALPNList(UnsafeBufferPointer(start: input, count: Int(inputLength)))
  guard let protocols = context.policy.protocols, let chosen = protocols.choose(offers.names),
    let range = offers.range(of: chosen)
  else { return SSL_TLSEXT_ERR_NOACK }
  if let wanted = protocols.clientCertificate(chosen) { SSL_set_verify(ssl, context.verifyMode(wanted), nil) }
  output.pointee = input + range.lowerBound
  outputLength.pointee = UInt8(range.count)
  return SSL_TLSEXT_ERR_OK
}

/// DER of a certificate that somebody else owns.
func derEncoding(_ certificate: OpaquePointer?) -> [UInt8]? {
  guard let certificate else { return nil }
  let size = i2d_X509(certificate, nil)
  guard size > 0 else { return nil }
  return [UInt8](unsafeUninitializedCapacity: Int(size)) { buffer, count in
    var cursor = buffer.baseAddress
    count = max(0, Int(i2d_X509(certificate, &cursor)))
  }
}

/// How a server chooses among the protocol names that a client offers (RFC 7301).
public struct ALPNChoice {
  fileprivate let choose: (_ offers: [String]) -> String?
  fileprivate let clientCertificate: (_ name: String) -> TLSPolicy.ClientCertificate?

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
  public init(_ bytes: UnsafeBufferPointer<UInt8>) {
    var position = 0
    while position < bytes.count {
      let range = position + 1..<position + 1 + Int(bytes[position])
      guard range.upperBound <= bytes.count else { return }
      names.append(String(decoding: bytes[range], as: UTF8.self))
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
      sentences.append(ERR_reason_error_string(code).map { String(cString: $0) } ?? "error \(code)")
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
