import Console

/// A certs folder in memory.
final class FakeIssuer: CredentialIssuer {
  private(set) var issuedCertificates: [SavedCertificate] = []
  private(set) var issuedKeys: [SavedKey] = []

  private(set) var orders: [CertificateOrder] = []
  private(set) var keyOrders: [KeyOrder] = []
  var isBusy = false
  var problem: (any Error)?

  func authority() -> [UInt8] { Array("the authority".utf8) }
  func javaTrustStore() -> [UInt8] { [0xfe, 0xed, 0xfe, 0xed] }

  func make(_ order: CertificateOrder, then: @escaping (Result<MadeCertificate, any Error>) -> Void) -> Bool {
    guard !isBusy else { return false }
    orders.append(order)
    if let problem {
      then(.failure(problem))
    } else {
      then(.success(MadeCertificate(certificate: [0x63], privateKey: [0x6b], pkcs12: [1, 2, 3])))
    }
    return true
  }

  func make(_ order: KeyOrder, then: @escaping (Result<MadeKey, any Error>) -> Void) -> Bool {
    guard !isBusy else { return false }
    keyOrders.append(order)
    then(.success(MadeKey(keyId: order.keyId ?? "MADEUPKEY0", p8: [0x70])))
    return true
  }

  func certificates() -> [SavedCertificate] { issuedCertificates }
  func keys() -> [SavedKey] { issuedKeys }
  func issue(_ certificate: SavedCertificate) { issuedCertificates.append(certificate) }
  func issue(_ key: SavedKey) { issuedKeys.append(key) }
}
