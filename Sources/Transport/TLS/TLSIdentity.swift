import COpenSSL

/// A certificate chain and its key. Several contexts may use one: decoding a key or a certificate is most of what making a context
/// costs.
public final class TLSIdentity {
  /// The certificate of the key, then those that lead to the CA.
  private let chain: [OwnedCertificate]
  private let key: OwnedKey

  /// Of two PEM files. Throws a `TLSError` if one can't be read or holds something else.
  public convenience init(certificate: String, key: String) throws {
    try self.init(chain: PEMSource(file: certificate, "certificate"), key: PEMSource(file: key, "key"))
  }

  /// Of PEM text. Throws a `TLSError` if it is something else.
  public convenience init(certificatePEM: [UInt8], keyPEM: [UInt8]) throws {
    try self.init(
      chain: PEMSource(text: certificatePEM, "a certificate"), key: PEMSource(text: keyPEM, "a key"))
  }

  private init(chain certificates: borrowing PEMSource, key source: borrowing PEMSource) throws {
    (chain, key) = (try certificates.certificates(), try source.key())
  }

  /// OpenSSL keeps certificate, chain and key by the kind of key, so a second kind stands beside the first. The context holds on to
  /// them itself.
  func use(in context: OpaquePointer) throws {
    for (index, certificate) in chain.enumerated() {
      let isTaken =
        unsafe index == 0
        ? SSL_CTX_use_certificate(context, certificate.pointer) == 1
        : SSL_CTX_ctrl(context, SSL_CTRL_CHAIN_CERT, 1, UnsafeMutableRawPointer(certificate.pointer)) == 1
      guard isTaken else { throw TLSError.drained("use a certificate") }
    }
    guard unsafe SSL_CTX_use_PrivateKey(context, key.pointer) == 1 else {
      throw TLSError.drained("use a key")
    }
  }
}

/// A certificate that is freed with this object.
@safe private final class OwnedCertificate {
  let pointer: OpaquePointer
  init(_ pointer: OpaquePointer) { unsafe self.pointer = unsafe pointer }
  deinit { unsafe X509_free(pointer) }
}

/// A key that is freed with this object.
@safe private final class OwnedKey {
  let pointer: OpaquePointer
  init(_ pointer: OpaquePointer) { unsafe self.pointer = unsafe pointer }
  deinit { unsafe EVP_PKEY_free(pointer) }
}

/// PEM for OpenSSL to read.
@safe private struct PEMSource: ~Copyable {
  private let handle: OpaquePointer
  /// What is read, in words.
  private let name: String

  init(file path: String, _ kind: String) throws {
    name = "\(kind) \(path)"
    guard let handle = unsafe BIO_new_file(path, "r") else { throw TLSError.drained("read \(name)") }
    unsafe self.handle = unsafe handle
  }

  init(text: [UInt8], _ name: String) throws {
    self.name = name
    guard let count = Int32(exactly: text.count), let handle = unsafe BIO_new(BIO_s_mem()) else {
      throw TLSError.drained("read \(name)")
    }
    unsafe self.handle = unsafe handle
    unsafe BIO_write(handle, text, count)
  }

  deinit { unsafe BIO_free(handle) }

  /// All that follow one another, at least one.
  func certificates() throws -> [OwnedCertificate] {
    var chain: [OwnedCertificate] = []
    while let certificate = unsafe PEM_read_bio_X509(handle, nil, nil, nil) {
      unsafe chain.append(OwnedCertificate(certificate))
    }
    guard !chain.isEmpty, ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE else {
      throw TLSError.drained("read \(name)")
    }
    // There is no further one, which is no failure.
    ERR_clear_error()
    return chain
  }

  func key() throws -> OwnedKey {
    // Without this callback OpenSSL would ask for the password of an encrypted key on the terminal.
    guard let key = unsafe PEM_read_bio_PrivateKey(handle, nil, { _, _, _, _ in -1 }, nil) else {
      throw TLSError.drained("read \(name)")
    }
    return unsafe OwnedKey(key)
  }
}
