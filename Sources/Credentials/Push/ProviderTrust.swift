import Basics
import COpenSSL

/// Decides whether a provider's certificate is good (`Documentation/binary-protocol.md#client-certificate`): issued by
/// our CA or one in `trust/`, not in `revoked/`, valid by the emulator's clock, for clients, and a push certificate. In lenient
/// mode whatever names a topic passes and the reason is kept.
public final class ProviderTrust {
  /// Most verdicts remembered; far more than providers, or handshakes under way at once.
  private static let maximumRecent = 1024
  /// Most bytes of certificates whose verdicts are remembered: some three times as many are kept of them. Beyond it all are forgotten.
  /// Those of Apple's form have 1,500 bytes, and what a handshake takes may have 64 KiB.
  public static let maximumRecentBytes = 4 << 20
  /// How long an accepted chain is not verified again, in seconds of the emulator's clock. Parsing and verifying cost as
  /// much as the rest of a handshake, and providers open many connections with one certificate.
  private static let reuseSeconds: Int64 = 60

  private struct Recent {
    var verdict: CertificateVerdict
    var judgedAt: Timestamp
    /// Of what was revoked.
    var generation: Int
    /// Of the leaf.
    var byteCount: Int

    /// Whether the verdict stands at another moment. The leaf's own end is kept to the nanosecond.
    func stands(at now: Timestamp, _ revocations: Revocations) -> Bool {
      guard generation == revocations.generation else { return false }
      let reuse = Timestamp(seconds: ProviderTrust.reuseSeconds).nanoseconds
      guard verdict.isAccepted, verdict.problem == nil, let certificate = verdict.certificate else {
        return false
      }
      return now >= judgedAt && now <= judgedAt.adding(nanoseconds: reuse)
        && now >= certificate.notBefore && now <= certificate.notAfter
    }
  }

  private let isLenient: Bool
  private let store: TrustStore
  private let revocations: Revocations
  /// By SHA-256 of the leaf.
  private var recent: [[UInt8]: Recent] = [:]
  /// Bytes of the leaves in `recent`.
  private var recentBytes = 0
  /// What a stranger gets is remembered for whoever asks next, and pushes out nobody else's.
  private var latestRefusal: (leaf: [UInt8], verdict: CertificateVerdict)?

  /// Loads the CAs of a prepared folder. `revocations` are that folder's, for whoever has them already.
  public init(
    folder: CertsFolder, revocations: Revocations? = nil, isLenient: Bool, now: Timestamp
  ) throws(CredentialsError) {
    self.isLenient = isLenient
    self.revocations = revocations ?? Revocations(folder)
    store = TrustStore(anchors: [try folder.loadedRoot(now: now).certificate], folder: folder.trustFolder)
  }

  /// Files of `trust/` that hold no certificate.
  public var ignoredFiles: [CredentialsError] { store.ignored }

  /// Judges a chain in DER, leaf first; `intermediatesDER` may repeat the leaf.
  public func verifyChain(
    leafDER: [UInt8], intermediatesDER: [[UInt8]], at now: Timestamp
  ) -> CertificateVerdict {
    revocations.pickUpChanges()
    let leaf = Digests.sha256(leafDER)
    if let known = recent[leaf], known.stands(at: now, revocations) { return known.verdict }
    let verdict = judge(leafDER, intermediatesDER, now)
    guard verdict.isAccepted || verdict.problem?.isOfKnownIssuer == true else {
      recentBytes -= recent.removeValue(forKey: leaf)?.byteCount ?? 0
      latestRefusal = (leaf, verdict)
      return verdict
    }
    remember(
      Recent(
        verdict: verdict, judgedAt: now, generation: revocations.generation, byteCount: leafDER.count),
      of: leaf)
    return verdict
  }

  private func remember(_ judged: Recent, of leaf: [UInt8]) {
    recentBytes -= recent[leaf]?.byteCount ?? 0
    if recent.count >= Self.maximumRecent || recentBytes + judged.byteCount > Self.maximumRecentBytes {
      recent.removeAll(keepingCapacity: true)
      recentBytes = 0
    }
    recent[leaf] = judged
    recentBytes += judged.byteCount
  }

  /// Verdicts that are remembered, as a count.
  public var recentCount: Int { recent.count }

  /// The newest verdict on a leaf, for the connection that has just completed its handshake with it.
  public func recentVerdict(leafDER: [UInt8]) -> CertificateVerdict? {
    let leaf = Digests.sha256(leafDER)
    if let latestRefusal, latestRefusal.leaf == leaf { return latestRefusal.verdict }
    return recent[leaf]?.verdict
  }

  /// Whoever has an open connection asks this whether the certificate is still good. Nil in lenient mode, where it stays what it
  /// was.
  public func standing(leafDER: [UInt8]) -> StandingCertificate? {
    isLenient ? nil : StandingCertificate(leafDER, revocations)
  }

  private func judge(_ leafDER: [UInt8], _ intermediatesDER: [[UInt8]], _ now: Timestamp)
    -> CertificateVerdict
  {
    guard let leaf = Certificate(der: leafDER), let certificate = PushCertificateClaims(leaf, der: leafDER)
    else {
      return CertificateVerdict(certificate: nil, problem: .malformed, isAccepted: false)
    }
    guard let key = leaf.publicKey, StrangersKey.isUsable(key) else {
      return CertificateVerdict(certificate: certificate, problem: .unfitKey, isAccepted: false)
    }
    // As OpenSSL has the chain, the leaf is its first: none of those that the limit is for.
    let chain = intermediatesDER.dropFirst(intermediatesDER.first == leafDER ? 1 : 0)
      .prefix(TrustStore.maximumIntermediates).compactMap(Certificate.init(der:))
    let problem = problem(of: leaf, certificate, chain, now)
    return CertificateVerdict(
      certificate: certificate, problem: problem,
      isAccepted: problem == nil || isLenient && certificate.namesTopic)
  }

  private func problem(
    of leaf: Certificate, _ certificate: PushCertificateClaims, _ chain: [Certificate], _ now: Timestamp
  ) -> CertificateProblem? {
    let error = store.verify(leaf, intermediates: chain, at: now)
    let untrusted = CertificateProblem(
      verificationError: error, issuer: certificate.issuer, notBefore: certificate.notBefore,
      notAfter: certificate.notAfter)
    if let untrusted { return untrusted }
    guard !revocations.contains(der: leaf.der) else { return .revoked }
    guard certificate.namesTopic else { return .namesNoTopic }
    return certificate.environments.isEmpty ? .namesNoEnvironment : nil
  }
}

/// A certificate that was good in its handshake.
public final class StandingCertificate {
  private let item: Revocable
  private let revocations: Revocations
  /// Of what was revoked when it was found good last.
  private var generation: Int

  init(_ der: [UInt8], _ revocations: Revocations) {
    (item, self.revocations) = (Revocable(der: der), revocations)
    generation = revocations.generation
  }

  /// Whether anything was revoked since it was found good last.
  public var mayBeRevoked: Bool { generation != revocations.generation }

  /// As of the last look at what was revoked (`Revocations.pickUpChanges`).
  public var isRevoked: Bool {
    guard mayBeRevoked else { return false }
    guard !revocations.contains(item) else { return true }
    generation = revocations.generation
    return false
  }
}

/// What became of a client's certificate.
public struct CertificateVerdict: Equatable, Sendable {
  /// What the certificate says; nil if it could not be parsed.
  public let certificate: PushCertificateClaims?
  /// What strict mode has against it, also where lenient mode let it pass.
  public let problem: CertificateProblem?
  public let isAccepted: Bool

  /// Nil accepts; otherwise the `X509_V_ERR_…` with which the handshake fails.
  public var verificationError: Int32? { isAccepted ? nil : problem?.verificationError }

  /// Where the provider may push: what the certificate says, or everywhere if lenient mode accepted one that says
  /// nothing.
  public var environments: EnvironmentSet {
    guard isAccepted, let certificate else { return [] }
    return certificate.environments.isEmpty ? .both : certificate.environments
  }
}
