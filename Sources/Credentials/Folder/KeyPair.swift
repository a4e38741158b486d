import Platform
import PushModel

/// A certificate with its private key, as two PEM files beside each other.
struct KeyPair {
  var certificate: Certificate
  var key: PrivateKey

  var issuer: CertificateTemplate.Issuer { .init(certificate: certificate, key: key) }

  /// Where a pair lies.
  struct Paths {
    var certificate: String
    var key: String
  }

  /// The pair at `paths`, or nil if neither file is there.
  init?(at paths: Paths, now: Timestamp) throws(CredentialsError) {
    switch (FileSystem.exists(paths.certificate), FileSystem.exists(paths.key)) {
    case (false, false): return nil
    case (true, false): throw Self.incomplete(present: paths.certificate, missing: paths.key)
    case (false, true): throw Self.incomplete(present: paths.key, missing: paths.certificate)
    case (true, true): break
    }
    guard let certificate = Certificate.all(pem: try FileSystem.read(paths.certificate)).first else {
      throw CredentialsError(.malformed, "\(paths.certificate) holds no PEM certificate")
    }
    guard let key = PrivateKey(pem: try FileSystem.read(paths.key)) else {
      throw CredentialsError(.malformed, "\(paths.key) holds no unencrypted PEM key")
    }
    guard certificate.belongs(to: key) else {
      throw CredentialsError(.mismatched, "\(paths.key) is not the key of \(paths.certificate)")
    }
    try certificate.requireValidity(at: now, path: paths.certificate)
    self.init(certificate: certificate, key: key)
  }

  init(certificate: Certificate, key: PrivateKey) {
    self.certificate = certificate
    self.key = key
  }

  /// Writes both files, the key first: a certificate without its key would look complete to a reader.
  func write(to paths: Paths) throws(CredentialsError) {
    try FileSystem.write(try key.pem(), to: paths.key, permissions: FileSystem.secretFile)
    try FileSystem.write(try certificate.pem(), to: paths.certificate, permissions: FileSystem.openFile)
  }

  private static func incomplete(present: String, missing: String) -> CredentialsError {
    CredentialsError(
      .mismatched,
      "\(missing) is missing although \(present) is there; restore it, or remove both to make new ones")
  }
}

extension Certificate {
  /// Throws unless `now` lies within the validity.
  fileprivate func requireValidity(at now: Timestamp, path: String) throws(CredentialsError) {
    guard let notBefore, let notAfter else {
      throw CredentialsError(.malformed, "\(path) has no readable validity")
    }
    guard now <= notAfter else {
      throw CredentialsError(
        .expired, "\(path) expired at \(notAfter.rfc3339); remove it and its key to have new ones made")
    }
    guard now >= notBefore else {
      throw CredentialsError(.expired, "\(path) is not valid before \(notBefore.rfc3339)")
    }
  }
}
