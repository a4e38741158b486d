import COpenSSL
import PushModel

/// Decides whether a provider's certificate is good (`spec/provider-protocol.md` A.5): issued by our authority or one in
/// `trust/`, valid by the emulator's clock, for clients, and a push certificate. In lenient mode whatever names a topic
/// passes and the reason is kept.
public final class ProviderTrust {
  /// Most verdicts remembered for `recentVerdict`; far more than handshakes under way at once.
  private static let maximumRecent = 1024

  private let isLenient: Bool
  private let store: TrustStore
  private var recent: [[UInt8]: CertificateVerdict] = [:]

  /// Loads the authorities of a prepared folder.
  public init(folder: CertsFolder, isLenient: Bool, now: Timestamp) throws(CredentialsError) {
    self.isLenient = isLenient
    store = TrustStore(anchors: [try folder.loadedRoot(now: now).certificate], folder: folder.trustFolder)
  }

  /// Files of `trust/` that hold no certificate.
  public var ignoredFiles: [CredentialsError] { store.ignored }

  /// Judges a chain in DER, leaf first; `intermediatesDER` may repeat the leaf.
  public func verifyChain(
    leafDER: [UInt8], intermediatesDER: [[UInt8]], at now: Timestamp
  ) -> CertificateVerdict {
    let verdict = judge(leafDER, intermediatesDER, now)
    if recent.count >= Self.maximumRecent { recent.removeAll(keepingCapacity: true) }
    recent[leafDER] = verdict
    return verdict
  }

  /// The newest verdict on a leaf, for the connection that has just completed its handshake with it.
  public func recentVerdict(leafDER: [UInt8]) -> CertificateVerdict? { recent[leafDER] }

  private func judge(_ leafDER: [UInt8], _ intermediatesDER: [[UInt8]], _ now: Timestamp)
    -> CertificateVerdict
  {
    guard let leaf = Certificate(der: leafDER), let certificate = PushCertificate(leaf, der: leafDER) else {
      return CertificateVerdict(certificate: nil, problem: .malformed, isAccepted: false)
    }
    let chain = intermediatesDER.prefix(TrustStore.maximumIntermediates + 1).compactMap(
      Certificate.init(der:))
    let problem = problem(of: leaf, certificate, chain, now)
    return CertificateVerdict(
      certificate: certificate, problem: problem,
      isAccepted: problem == nil || isLenient && certificate.namesTopic)
  }

  private func problem(
    of leaf: Certificate, _ certificate: PushCertificate, _ chain: [Certificate], _ now: Timestamp
  ) -> CertificateProblem? {
    let error = store.verify(leaf, intermediates: chain, at: now)
    let untrusted = CertificateProblem(
      verificationError: error, issuer: certificate.issuer, notBefore: certificate.notBefore,
      notAfter: certificate.notAfter)
    if let untrusted { return untrusted }
    guard certificate.namesTopic else { return .namesNoTopic }
    return certificate.environments.isEmpty ? .namesNoEnvironment : nil
  }
}
