import COpenSSL

extension TLSConnection {
  /// The name that the client asked for (SNI).
  public var serverName: String? {
    SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name).map { String(cString: $0) }
  }

  /// The application protocol agreed on (ALPN).
  public var alpn: String? {
    var name: UnsafePointer<UInt8>?
    var count: UInt32 = 0
    SSL_get0_alpn_selected(ssl, &name, &count)
    guard let name, count > 0 else { return nil }
    return String(decoding: UnsafeBufferPointer(start: name, count: Int(count)), as: UTF8.self)
  }

  /// DER of the peer's certificate, nil if it showed none.
  public var peerCertificate: [UInt8]? {
    let certificate = SSL_get1_peer_certificate(ssl)
    defer { X509_free(certificate) }
    return derEncoding(certificate)
  }

  /// `TLSv1.2` and the like.
  public var tlsVersion: String { String(cString: SSL_get_version(ssl)) }

  /// The cipher suite in OpenSSL's spelling.
  public var cipher: String { String(cString: SSL_CIPHER_get_name(SSL_get_current_cipher(ssl))) }
}
