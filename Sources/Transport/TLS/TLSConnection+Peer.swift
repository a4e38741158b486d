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

  /// Common name of the peer's certificate, nil if it showed none. For people who look; decides nothing.
  public var peerCommonName: String? {
    guard let certificate = SSL_get1_peer_certificate(ssl) else { return nil }
    defer { X509_free(certificate) }
    var name = [CChar](repeating: 0, count: 256)
    let count = X509_NAME_get_text_by_NID(
      X509_get_subject_name(certificate), NID_commonName, &name, Int32(name.count))
    guard count > 0 else { return nil }
    return String(decoding: name.prefix(Int(count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// Why the peer's certificate was not believed; nil if it was, or was not looked at.
  public var peerCertificateProblem: String? {
    let code = SSL_get_verify_result(ssl)
    guard code != Int(X509_V_OK) else { return nil }
    return String(cString: X509_verify_cert_error_string(code))
  }

  /// `TLSv1.2` and the like.
  public var tlsVersion: String { String(cString: SSL_get_version(ssl)) }

  /// The cipher suite in OpenSSL's spelling.
  public var cipher: String { String(cString: SSL_CIPHER_get_name(SSL_get_current_cipher(ssl))) }
}
