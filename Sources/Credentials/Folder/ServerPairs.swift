import Basics
import COpenSSL

/// What the listeners serve: `server.pem`, and beside it `server-ec.pem`, which says the same of a P-256 key. A new connection
/// costs a server with such a key much less, and clients that know only RSA still find theirs. Only certificates of one
/// CA are served beside each other: a client that trusts the one must be able to trust the other
/// (`Documentation/credentials.md#the-server-certificate`).
public struct ServerPairs: Equatable, Sendable {
  /// `server.pem` first.
  public let files: [PairPaths]
  /// Why `server.pem` is served alone; nil if it is not.
  public let reasonAlone: String?

  /// Makes the P-256 pair if our root has issued `server` and the pair is absent or not of this `server`. One of somebody else is
  /// never replaced.
  init(
    _ server: KeyPair, at paths: PairPaths, beside ellipticPaths: PairPaths, root: KeyPair, now: Timestamp
  ) throws(CredentialsError) {
    let choice = Choice(server: server, serverPath: paths.certificate, paths: ellipticPaths, root: root)
    reasonAlone = try choice.reasonAlone(now: now)
    files = reasonAlone == nil ? [paths, ellipticPaths] : [paths]
  }

  /// Whether a P-256 pair may be served beside an RSA pair.
  private struct Choice {
    let server: KeyPair
    let serverPath: String
    /// Of the P-256 pair.
    let paths: PairPaths
    let root: KeyPair

    func reasonAlone(now: Timestamp) throws(CredentialsError) -> String? {
      // OpenSSL holds one certificate for each kind of key.
      guard server.key.isRSA else { return "\(serverPath) is not for an RSA key" }
      let present = try KeyPair(at: paths)
      guard server.certificate.isSigned(by: root.key) else { return try foreign(present, now) }
      if let present, !present.certificate.isSigned(by: root.key) { return differentCAs }
      if let present, present.key.isP256, present.certificate.saysTheSame(as: server.certificate) {
        return nil
      }
      return try make()
    }

    /// Of a CA that is not ours, nothing can be made.
    private func foreign(_ present: KeyPair?, _ now: Timestamp) throws(CredentialsError) -> String? {
      guard let present else { return "\(serverPath) was issued by another CA than that of the certs folder" }
      guard !present.certificate.isSigned(by: root.key),
        present.certificate.hasIssuer(of: server.certificate)
      else { return differentCAs }
      guard present.key.isP256 else { return "\(paths.key) is not a key on P-256" }
      try present.certificate.requireValidity(at: now, path: paths.certificate)
      return nil
    }

    private var differentCAs: String {
      "\(paths.certificate) and \(serverPath) were issued by different CAs"
    }

    /// A folder that can't be written has worked without this pair before, and goes on to.
    private func make() throws(CredentialsError) -> String? {
      let key = try PrivateKey.generateP256()
      let certificate = try server.certificate.reissued(for: PublicKey(of: key), by: root.key)
      do throws(CredentialsError) {
        try KeyPair(certificate: certificate, key: key).write(to: paths)
        return nil
      } catch {
        guard error.code == .unwritable else { throw error }
        return error.message
      }
    }
  }
}

extension Certificate {
  /// Whether `key` has signed this certificate.
  fileprivate func isSigned(by key: PrivateKey) -> Bool {
    defer { OpenSSLError.clear() }
    return unsafe X509_verify(handle, key.handle) == 1
  }

  /// Whether subject, names and validity are those of `other`.
  fileprivate func saysTheSame(as other: Certificate) -> Bool {
    let names = CertificateExtension.subjectAlternativeNamesIdentifier
    return unsafe X509_NAME_cmp(X509_get_subject_name(handle), X509_get_subject_name(other.handle)) == 0
      && extensionValue(names) == other.extensionValue(names)
      && notBefore == other.notBefore && notAfter == other.notAfter
  }

  /// Whether the issuer's name and key are those of the issuer of `other`.
  fileprivate func hasIssuer(of other: Certificate) -> Bool {
    let issuerKey = CertificateExtension.authorityKeyIdentifierIdentifier
    return unsafe X509_NAME_cmp(X509_get_issuer_name(handle), X509_get_issuer_name(other.handle)) == 0
      && extensionValue(issuerKey) == other.extensionValue(issuerKey)
  }

  /// The same certificate for another key, signed again by its issuer: names, validity and purposes stay, serial number and key
  /// identifier don't.
  fileprivate func reissued(for publicKey: PublicKey, by issuerKey: PrivateKey) throws(CredentialsError)
    -> Certificate
  {
    guard let copy = unsafe Certificate(taking: X509_dup(handle)) else {
      throw OpenSSLError.take("copy a certificate")
    }
    guard CertificateTemplate.setRandomSerial(copy),
      unsafe X509_set_pubkey(copy.handle, publicKey.handle) == 1,
      Self.replace(NID_key_usage, of: copy, with: .keyUsage(.digitalSignature)),
      Self.replace(
        NID_subject_key_identifier, of: copy,
        with: .subjectKeyIdentifier(CertificateTemplate.keyIdentifier(copy))),
      copy.sign(with: issuerKey)
    else { throw OpenSSLError.take("sign a certificate") }
    return copy
  }

  private static func replace(_ kind: Int32, of certificate: Certificate, with new: CertificateExtension)
    -> Bool
  {
    let index = unsafe X509_get_ext_by_NID(certificate.handle, kind, -1)
    if index >= 0 { unsafe X509_EXTENSION_free(X509_delete_ext(certificate.handle, index)) }
    return CertificateTemplate.add(new, to: certificate)
  }
}
