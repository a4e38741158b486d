import COpenSSL

/// A PKCS#10 certificate request.
@safe package final class CertificateRequest {
  /// Largest request taken, in bytes of PEM: an RSA key of 4096 bits needs about 2,000.
  package static let maximumByteCount = 16_384

  private let request: Owned<OpaquePointer>

  /// Reads a PEM request; nil for anything else.
  init?(pem: [UInt8]) {
    defer { OpenSSLError.clear() }
    guard pem.count <= Self.maximumByteCount, let buffer = MemoryBuffer(pem),
      let request = unsafe Owned(PEM_read_bio_X509_REQ(buffer.handle, nil, nil, nil), X509_REQ_free)
    else { return nil }
    unsafe self.request = unsafe request
  }

  /// A request for `key`, signed with it.
  package init(subject: DistinguishedName, key: PrivateKey) throws(CredentialsError) {
    guard let request = unsafe Owned(X509_REQ_new(), X509_REQ_free) else {
      throw OpenSSLError.take("make a certificate request")
    }
    guard unsafe subject.append(to: X509_REQ_get_subject_name(request.handle)),
      unsafe X509_REQ_set_pubkey(request.handle, key.handle) == 1,
      unsafe X509_REQ_sign(request.handle, key.handle, EVP_sha256()) > 0
    else { throw OpenSSLError.take("sign a certificate request") }
    unsafe self.request = unsafe request
  }

  /// The key of a request in PEM that is signed with it, if it is one that is wanted; `sentence` says which are.
  static func key(
    of pem: [UInt8], that isWanted: (PublicKey) -> Bool, is sentence: String
  ) throws(CredentialsError) -> PublicKey {
    defer { OpenSSLError.clear() }
    guard let request = CertificateRequest(pem: pem),
      let key = unsafe PublicKey(taking: X509_REQ_get_pubkey(request.request.handle))
    else { throw CredentialsError(.malformed, "the certificate request is not a PEM request with a key") }
    guard isWanted(key) else {
      throw CredentialsError(.unsuitable, "the certificate request is not for \(sentence)")
    }
    guard unsafe X509_REQ_verify(request.request.handle, key.handle) == 1 else {
      throw CredentialsError(.mismatched, "the certificate request is not signed with the key it is for")
    }
    return key
  }

  /// The request in PEM.
  package func pem() throws(CredentialsError) -> [UInt8] {
    guard let buffer = MemoryBuffer(), unsafe PEM_write_bio_X509_REQ(buffer.handle, request.handle) == 1
    else {
      throw OpenSSLError.take("write a certificate request")
    }
    return buffer.contents
  }
}
