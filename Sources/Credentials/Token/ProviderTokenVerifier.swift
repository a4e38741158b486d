import Basics

/// Verifies provider tokens with the keys of the keys folder (`Documentation/provider-api.md#provider-tokens`).
public final class ProviderTokenVerifier {
  /// How old a token may be, in seconds (E: renew at least once per 60 minutes).
  public static let maximumAgeSeconds: Int64 = 3600
  /// How far in the future `iat` may lie, in seconds (E: "within an hour";
  /// `Documentation/provider-api.md#open-questions`).
  public static let maximumAheadSeconds: Int64 = 3600

  private let ring: ProviderKeyRing
  private let revocations: Revocations
  private let isLenient: Bool
  private let documentedOnly: Bool
  /// Refused tokens remembered in one generation, as a count: a client that has a bad one sends it over and over, but
  /// anybody can make more.
  private static let refusedCapacity = 128
  /// Verified tokens remembered in one generation, as a count: only holders of a key get in.
  private static let verifiedCapacity = 1024
  private var cache = ProviderTokenMemory<VerifiedProviderToken>(generationCapacity: verifiedCapacity)
  private var refused = ProviderTokenMemory<RefusedProviderToken>(generationCapacity: refusedCapacity)
  private var cachedGeneration = 0
  /// Tokens that were verified and not known before, as a count.
  public private(set) var verifiedCount: UInt64 = 0

  /// Loads the keys of a prepared folder. In lenient mode a token of an unknown key is taken at its word.
  /// `documentedOnly` refuses what Apple evidently serves but does not document (`ProviderToken.deviation`). `revocations` are
  /// that folder's, for whoever has them already.
  public init(
    folder: CertsFolder, revocations: Revocations? = nil, isLenient: Bool, documentedOnly: Bool = false
  ) {
    self.revocations = revocations ?? Revocations(folder)
    ring = ProviderKeyRing(folder: folder.keysFolder)
    (self.isLenient, self.documentedOnly) = (isLenient, documentedOnly)
  }

  /// Files of the keys folder that hold no usable key.
  public var ignoredFiles: [CredentialsError] { ring.ignored }

  /// Looks for keys that were added, removed or revoked. Added ones are found without it; call it now and then so that tokens
  /// of the others end.
  public func pickUpChanges() {
    ring.pickUpChanges()
    revocations.pickUpChanges()
  }

  /// Call it when keys of the folder were added or revoked by this process: the next token is judged by what is there then.
  /// Without it, changes that come faster than `FolderWatch.readingsPerSecond` are seen a second later.
  public func expectChange() {
    ring.expectChange()
    revocations.expectChange()
  }

  /// Who signed this token (what follows `bearer `), or why it is refused. The signature is checked once per token, its
  /// age every time.
  public func verify(compact: [UInt8], now: Timestamp) -> Result<VerifiedProviderToken, ProviderTokenRefusal>
  {
    Result { () throws(ProviderTokenRefusal) in
      let token = try verified(compact)
      try checkAge(token, now)
      return token
    }
  }

  /// Forgets which tokens it knows: each counts as new when it comes again.
  public func forgetVerified() { cache.removeAll { _ in true } }

  private func verified(_ bytes: [UInt8]) throws(ProviderTokenRefusal) -> VerifiedProviderToken {
    forgetOutdated()
    if let known = cache.find(bytes) { return known }
    if let known = refused.find(bytes), stands(known) { throw known.refusal }
    do throws(RefusedProviderToken) {
      return try examined(bytes)
    } catch {
      if bytes.count <= ProviderToken.maximumByteCount { refused.insert(bytes, error) }
      throw error.refusal
    }
  }

  /// Whether nothing has happened that could make a refused token good.
  private func stands(_ token: RefusedProviderToken) -> Bool {
    switch token.cause {
    case .malformed, .revoked: return true
    case .unknownKey:
      ring.pickUpChanges()
      return cachedGeneration == generation
    case .key(let files): return !files.haveChanged
    }
  }

  private func examined(_ bytes: [UInt8]) throws(RefusedProviderToken) -> VerifiedProviderToken {
    let token: ProviderToken
    do { token = try ProviderToken(bytes) } catch { throw RefusedProviderToken(error, .malformed) }
    if documentedOnly, let deviation = token.deviation { throw RefusedProviderToken(deviation, .malformed) }
    guard !revocations.contains(.key(token.keyId)) else {
      throw RefusedProviderToken(.invalid("key \(token.keyId) was revoked (certs revoke)"), .revoked)
    }
    guard let key = ring.key(token.keyId) else {
      let refusal = ProviderTokenRefusal.invalid("key \(token.keyId) is not in the keys folder")
      guard isLenient else { throw RefusedProviderToken(refusal, .unknownKey) }
      let record = ProviderKeyRecord(keyId: token.keyId, teamId: token.teamId)
      return VerifiedProviderToken(token, key: record, fingerprint: Digests.sha256(bytes), leniency: refusal)
    }
    let record = try record(of: token, bytes, key: key)
    let verified = VerifiedProviderToken(token, key: record, fingerprint: Digests.sha256(bytes))
    forgetOutdated()
    cache.insert(bytes, verified)
    verifiedCount += 1
    return verified
  }

  /// The description of the key that signed the token. A key file that was exchanged is loaded again.
  private func record(
    of token: ProviderToken, _ bytes: [UInt8], key: ProviderKey
  ) throws(RefusedProviderToken) -> ProviderKeyRecord {
    do throws(RefusedProviderToken) {
      return try Self.check(token, bytes, key)
    } catch {
      guard let replacement = ring.replacement(of: key) else { throw error }
      return try Self.check(token, bytes, replacement)
    }
  }

  private static func check(
    _ token: ProviderToken, _ bytes: [UInt8], _ key: ProviderKey
  ) throws(RefusedProviderToken) -> ProviderKeyRecord {
    guard key.record.teamId == token.teamId else {
      throw RefusedProviderToken(
        .invalid("iss is \(token.teamId), but key \(token.keyId) belongs to team \(key.record.teamId)"),
        .key(key.files))
    }
    let message = Array(bytes.prefix(token.signedByteCount))
    guard key.publicKey.verifies(token.signature, over: message, hash: token.algorithm.hash) else {
      throw RefusedProviderToken(.invalid("the signature does not fit key \(token.keyId)"), .key(key.files))
    }
    return key.record
  }

  private func checkAge(_ token: VerifiedProviderToken, _ now: Timestamp) throws(ProviderTokenRefusal) {
    guard !token.isOutdated(at: now) else {
      throw ProviderTokenRefusal(
        .expiredProviderToken,
        "iat is \(token.issuedAt), more than \(Self.maximumAgeSeconds) s before \(now)")
    }
    guard !token.isAhead(of: now) else {
      throw .invalid(
        "iat is \(token.issuedAt), more than \(Self.maximumAheadSeconds) s after \(now)")
    }
  }

  /// Changes with the keys and with what was revoked: until then, a token that was good is good but for its age.
  public var generation: Int { ring.generation &+ revocations.generation }

  private func forgetOutdated() {
    guard cachedGeneration != generation else { return }
    cachedGeneration = generation
    let outdated = ring.takeOutdated()
    cache.removeAll { outdated.contains($0.keyId) || revocations.contains(.key($0.keyId)) }
    refused.removeAll { $0.cause.isOfKeys }
  }
}

/// Remembers what became of tokens, by their bytes. Two generations: when the young one is full it becomes the old one,
/// and the old one is forgotten, so what is in use stays and what is not goes.
public struct ProviderTokenMemory<Verdict> {
  /// Tokens in one generation. Each is at most `ProviderToken.maximumByteCount` long.
  private let generationCapacity: Int
  private var young: [[UInt8]: Verdict] = [:]
  private var old: [[UInt8]: Verdict] = [:]

  public init(generationCapacity: Int) { self.generationCapacity = generationCapacity }

  /// The verdict on the token with exactly these bytes.
  public mutating func find(_ bytes: [UInt8]) -> Verdict? {
    if let verdict = young[bytes] { return verdict }
    guard let verdict = old[bytes] else { return nil }
    insert(bytes, verdict)
    return verdict
  }

  public mutating func insert(_ bytes: [UInt8], _ verdict: Verdict) {
    if young.count >= generationCapacity { (old, young) = (young, [:]) }
    young[bytes] = verdict
  }

  public mutating func removeAll(where isOutdated: (Verdict) -> Bool) {
    young = young.filter { !isOutdated($0.value) }
    old = old.filter { !isOutdated($0.value) }
  }
}
