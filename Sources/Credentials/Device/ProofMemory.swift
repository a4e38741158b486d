import Basics

/// The proofs of identity that were accepted lately, so that none is accepted twice.
///
/// Two generations, each as long as a proof stays good: what is in neither was accepted too long ago to be good still.
/// Measured by a clock that nobody sets, so a proof does not come to life again when the date is set back.
public struct ProofMemory {
  /// Proofs in one generation, as a count: some two mebibytes. Beyond it the older generation goes early, and only who
  /// gets so many proofs accepted in half an hour can use one of his own, or one that he has overheard inside of TLS, again.
  public static let generationCapacity = 1 << 17

  /// How long a proof is remembered at least, in nanoseconds.
  private let period: Int64
  private var young: Set<Int> = []
  private var old: Set<Int> = []
  private var begunAt = Instant.distantPast

  public init(period: Int64) { self.period = period }

  /// Remembers a proof; false if it is remembered already. The key belongs to it: some client draws no chance for its
  /// nonces, and two of its devices may connect in the same millisecond.
  public mutating func insert(nonce: [UInt8], keyFingerprint: [UInt8], at now: Instant) -> Bool {
    turnOver(at: now)
    // Seeded per process, so that nobody can choose proofs that collide.
    var hasher = Hasher()
    hasher.combine(nonce)
    hasher.combine(keyFingerprint)
    let proof = hasher.finalize()
    return !old.contains(proof) && young.insert(proof).inserted
  }

  /// Proofs that are remembered, as a count.
  public var count: Int { young.count + old.count }

  private mutating func turnOver(at now: Instant) {
    let age = now.nanoseconds(since: begunAt)
    guard age >= period || young.count >= Self.generationCapacity else { return }
    old = age >= 2 * period ? [] : young
    young = []
    begunAt = now
  }
}
