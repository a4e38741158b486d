import COpenSSL
import Platform

/// The bytes of one socket, as they are or through TLS, and what TLS says of the peer. Nothing here waits.
@safe struct SocketLayer: ~Copyable {
  /// What came of a call.
  enum Outcome {
    /// So many bytes moved, at least one; of a handshake or an end: it is done.
    case moved(Int)
    /// Nothing moves before the socket is readable, or writable.
    case needsInput, needsRoom
    /// The peer has ended its side, in order.
    case ended
    /// The peer is gone without a word.
    case cut
    /// The TLS layer failed; `failure` says why.
    case failed
  }

  /// Behind a read of so many bytes there is likely more.
  private static let bulk = 8 << 10

  /// The owner closes it.
  let descriptor: Int32
  /// OpenSSL's state, owned by this value; nil without TLS.
  private let ssl: OpaquePointer?
  let hasTLS: Bool
  /// `TLSPolicy.closeDelay`.
  let closeDelay: Int64
  /// Whether the peer is the one who connected.
  let isServer: Bool
  /// `TLSPolicy.peersSayLittle`.
  private let peerSaysLittle: Bool

  /// A socket with TLS, or without if there is no context.
  init(_ descriptor: Int32, _ context: TLSContext?, isServer: Bool) throws {
    unsafe ssl = try unsafe context?.makeConnection(descriptor, isServer: isServer)
    (self.descriptor, self.isServer, hasTLS) = (descriptor, isServer, context != nil)
    closeDelay = context?.policy.closeDelay ?? 0
    peerSaysLittle = context?.policy.peersSayLittle ?? false
  }

  deinit { unsafe SSL_free(ssl) }

  /// What a client asks for, before its handshake.
  func ask(serverName: String?, alpn: [String]) {
    guard hasTLS else { return }
    if let serverName {
      // A server name is never an address (RFC 6066 3); a certificate may name one.
      let isAddress = SocketAddress(host: serverName, port: 0).isNumeric
      if !isAddress { _ = unsafe shim_SSL_set_server_name(ssl, serverName) }
      unsafe SSL_set1_host(ssl, serverName)
    }
    let offer = ALPNList.encode(alpn)
    if !offer.isEmpty { unsafe SSL_set_alpn_protos(ssl, offer, UInt32(offer.count)) }
  }

  func handshake() -> Outcome { unsafe through { unsafe SSL_do_handshake($0) } }

  /// Reads what there is.
  @inline(__always)
  func read(into room: inout [UInt8]) -> Outcome {
    guard hasTLS else { return readRaw(into: &room) }
    return unsafe through { unsafe SSL_read($0, &room, Int32(clamping: room.count)) }
  }

  /// Whether a read that gave so many bytes took all that the socket had, so that the next one would most likely be told just
  /// that.
  @inline(__always)
  func isDry(afterReading count: Int) -> Bool {
    unsafe peerSaysLittle && count < Self.bulk && SSL_has_pending(ssl) == 0
  }

  /// Writes what the system takes. With TLS, bytes that found no room have to be given again.
  @inline(__always)
  func write(_ bytes: Span<UInt8>) -> Outcome {
    guard hasTLS else { return writeRaw(bytes) }
    return unsafe through { ssl in
      unsafe bytes.withUnsafeBytes { unsafe SSL_write(ssl, $0.baseAddress, Int32(clamping: $0.count)) }
    }
  }

  /// Sends the TLS close; without TLS there is none.
  func sendClose() -> Outcome {
    guard hasTLS else { return .moved(0) }
    ERR_clear_error()
    let status = unsafe SSL_shutdown(ssl)
    return status >= 0 ? .moved(0) : reason(status)
  }

  /// Past the TLS layer: reads what there is, undecrypted.
  func readRaw(into room: inout [UInt8]) -> Outcome {
    plain(SocketCalls.receive(descriptor, into: &room), needs: .needsInput)
  }

  /// Past the TLS layer: writes what the system takes.
  func writeRaw(_ bytes: Span<UInt8>) -> Outcome {
    plain(SocketCalls.send(descriptor, bytes), needs: .needsRoom)
  }

  /// Why the last call failed.
  func failure(_ operation: String) -> String { TLSError.drained(operation).sentence }

  private func plain(_ count: Int, needs: Outcome) -> Outcome {
    if count > 0 { return .moved(count) }
    if count == 0 { return .ended }
    return SocketCalls.isUnready ? needs : .cut
  }

  @inline(__always)
  private func through(_ call: (OpaquePointer?) -> Int32) -> Outcome {
    ERR_clear_error()
    let count = unsafe call(ssl)
    return count > 0 ? .moved(Int(count)) : reason(count)
  }

  private func reason(_ status: Int32) -> Outcome {
    switch unsafe SSL_get_error(ssl, status) {
    case SSL_ERROR_WANT_READ: .needsInput
    case SSL_ERROR_WANT_WRITE: .needsRoom
    case SSL_ERROR_ZERO_RETURN: .ended
    case SSL_ERROR_SYSCALL: .cut
    default: .failed
    }
  }

  // MARK: What TLS says

  var serverName: String? {
    unsafe ssl.flatMap { unsafe SSL_get_servername($0, TLSEXT_NAMETYPE_host_name) }.map {
      unsafe String(cString: $0)
    }
  }

  var alpn: String? {
    guard hasTLS else { return nil }
    var name: UnsafePointer<UInt8>?
    var count: UInt32 = 0
    unsafe SSL_get0_alpn_selected(ssl, &name, &count)
    guard let name = unsafe name else { return nil }
    return unsafe String(decoding: UnsafeBufferPointer(start: name, count: Int(count)), as: UTF8.self)
  }

  var peerCertificate: [UInt8]? { unsafe derEncoding(ssl.flatMap { unsafe SSL_get0_peer_certificate($0) }) }

  var peerCommonName: String? {
    guard let certificate = unsafe ssl.flatMap({ unsafe SSL_get0_peer_certificate($0) }) else { return nil }
    var name = [CChar](repeating: 0, count: 256)
    let count = unsafe X509_NAME_get_text_by_NID(
      X509_get_subject_name(certificate), NID_commonName, &name, Int32(name.count))
    guard count > 0 else { return nil }
    return String(decoding: name.prefix(Int(count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  var peerCertificateProblem: String? {
    guard let ssl = unsafe ssl, case let code = unsafe SSL_get_verify_result(ssl), code != Int(X509_V_OK)
    else { return nil }
    return unsafe String(cString: X509_verify_cert_error_string(code))
  }

  /// An alert in the clear: type 21, the version that every client takes before it has agreed on one, two bytes, level fatal
  /// (RFC 8446 5.1, 6).
  static func record(ofAlert alert: UInt8) -> [UInt8] { [0x15, 0x03, 0x03, 0x00, 0x02, 0x02, alert] }

  var version: String { unsafe ssl.map { unsafe String(cString: SSL_get_version($0)) } ?? "none" }
  var cipher: String {
    unsafe ssl.map { unsafe String(cString: SSL_CIPHER_get_name(SSL_get_current_cipher($0))) } ?? "none"
  }
}

/// What is known of a connection's peer.
extension SocketConnection {
  /// The name that the client asked for (SNI).
  public var serverName: String? { layer.serverName }
  /// The name by which the client wants to have this server: what it asked the proxy for, else SNI.
  public var requestedName: String? { destination?.host ?? serverName }
  /// The application protocol agreed on (ALPN).
  public var alpn: String? { layer.alpn }
  /// DER of the peer's certificate, nil if it showed none.
  public var peerCertificate: [UInt8]? { layer.peerCertificate }
  /// Common name of the peer's certificate, nil if it showed none. For people who look; decides nothing.
  public var peerCommonName: String? { layer.peerCommonName }
  /// Why the peer's certificate was not believed; nil if it was, or was not looked at.
  public var peerCertificateProblem: String? { layer.peerCertificateProblem }
  /// `TLSv1.2` and the like.
  public var tlsVersion: String { layer.version }
  /// The cipher suite in OpenSSL's spelling.
  public var cipher: String { layer.cipher }
}
