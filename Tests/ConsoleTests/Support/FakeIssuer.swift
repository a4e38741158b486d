import Console
import PushModel

/// A certs folder in memory.
final class FakeIssuer: CredentialIssuer {
  private(set) var issuedCertificates: [SavedCertificate] = []
  private(set) var issuedKeys: [SavedKey] = []

  private(set) var orders: [CertificateOrder] = []
  private(set) var keyOrders: [KeyOrder] = []
  var isBusy = false
  var problem: (any Error)?

  func ca() -> [UInt8] { Array("the authority".utf8) }
  func javaTrustStore() -> [UInt8] { [0xfe, 0xed, 0xfe, 0xed] }

  func make(_ order: CertificateOrder, then: @escaping (Result<MadeCertificate, any Error>) -> Void) -> Bool {
    guard !isBusy else { return false }
    orders.append(order)
    if let problem {
      then(.failure(problem))
    } else {
      then(
        .success(
          MadeCertificate(certificate: [0x63], sha256: Self.digest, privateKey: [0x6b], pkcs12: [1, 2, 3])))
    }
    return true
  }

  func make(_ order: KeyOrder, then: @escaping (Result<MadeKey, any Error>) -> Void) -> Bool {
    guard !isBusy else { return false }
    keyOrders.append(order)
    then(.success(MadeKey(keyId: order.keyId ?? "MADEUPKEY0", p8: [0x70])))
    return true
  }

  static let digest = [UInt8](repeating: 0xab, count: 32)
  private(set) var revoked: [RevokedCredential] = []

  func revoke(_ item: RevokedCredential, then: @escaping (Result<Void, any Error>) -> Void) -> Bool {
    guard !isBusy else { return false }
    revoked.append(item)
    then(problem.map { .failure($0) } ?? .success(()))
    return true
  }

  /// How many files are looked at for a list, the first of them none; nil for what is in memory.
  var files: Int?
  private(set) var filesRead = 0

  func listedCertificates() -> AnyIterator<IssuedCertificate?> {
    guard let files, let topic = Topic("com.example.app") else {
      let issued = issuedCertificates.map {
        IssuedCertificate(
          $0, sha256: Self.digest, isRevoked: revoked.contains(.certificate(sha256: Self.digest)))
      }
      return AnyIterator(issued.map { Optional($0) }.makeIterator())
    }
    return AnyIterator { [self] in
      guard filesRead < files else { return nil }
      filesRead += 1
      let certificate = SavedCertificate(topic: topic, environments: [.sandbox], isSingle: true)
      return .some(filesRead == 1 ? nil : IssuedCertificate(certificate, sha256: Self.digest))
    }
  }

  func listedKeys() -> AnyIterator<IssuedKey?> {
    let issued = issuedKeys.map { IssuedKey($0, isRevoked: revoked.contains(.key($0.keyId))) }
    return AnyIterator(issued.map { Optional($0) }.makeIterator())
  }

  func hasKey(_ id: String) -> Bool { issuedKeys.contains { $0.keyId == id } }

  func issue(_ certificate: SavedCertificate) { issuedCertificates.append(certificate) }
  func issue(_ key: SavedKey) { issuedKeys.append(key) }

  func issue(_ credential: SavedCredential) {
    switch credential {
    case .certificate(let certificate): issue(certificate)
    case .key(let key): issue(key)
    }
  }

  /// Whether saved ones are made only when the test wants it.
  var isSlow = false
  private(set) var waiting: [() -> Void] = []

  func issue(_ credential: SavedCredential, then: @escaping (Result<Void, any Error>) -> Void) -> Bool {
    guard !isBusy else { return false }
    let make = { [unowned self] in
      if let problem { return then(.failure(problem)) }
      issue(credential)
      then(.success(()))
    }
    if isSlow { waiting.append(make) } else { make() }
    return true
  }

  func makeFirst() { if !waiting.isEmpty { waiting.removeFirst()() } }
}
