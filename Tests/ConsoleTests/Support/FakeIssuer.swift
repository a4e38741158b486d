import Console

/// A certs folder in memory.
final class FakeIssuer: CredentialIssuer {
  private(set) var issuedCertificates: [SavedCertificate] = []
  private(set) var issuedKeys: [SavedKey] = []

  func certificates() -> [SavedCertificate] { issuedCertificates }
  func keys() -> [SavedKey] { issuedKeys }
  func issue(_ certificate: SavedCertificate) { issuedCertificates.append(certificate) }
  func issue(_ key: SavedKey) { issuedKeys.append(key) }
}
