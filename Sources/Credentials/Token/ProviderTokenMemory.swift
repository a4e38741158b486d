import Platform

/// Remembers what became of tokens, by their bytes. Two generations: when the young one is full it becomes the old one,
/// and the old one is forgotten, so what is in use stays and what is not goes.
package struct ProviderTokenMemory<Verdict> {
  private struct Entry {
    var bytes: [UInt8]
    var verdict: Verdict

    func matches(_ other: UnsafeRawBufferPointer) -> Bool {
      guard let start = other.baseAddress, other.count == bytes.count else { return false }
      return memcmp(bytes, start, other.count) == 0
    }
  }

  /// Tokens in one generation. Each is at most `ProviderToken.maximumByteCount` long.
  private let generationCapacity: Int
  private var young: [Int: Entry] = [:]
  private var old: [Int: Entry] = [:]

  init(generationCapacity: Int) { self.generationCapacity = generationCapacity }

  /// The verdict on the token with exactly these bytes.
  package mutating func find(_ bytes: UnsafeRawBufferPointer) -> Verdict? {
    let hash = Self.hash(bytes)
    if let entry = young[hash], entry.matches(bytes) { return entry.verdict }
    guard let entry = old[hash], entry.matches(bytes) else { return nil }
    insert(entry, hash)
    return entry.verdict
  }

  package mutating func insert(_ bytes: [UInt8], _ verdict: Verdict) {
    insert(Entry(bytes: bytes, verdict: verdict), bytes.withUnsafeBytes { Self.hash($0) })
  }

  package mutating func removeAll(where isOutdated: (Verdict) -> Bool) {
    young = young.filter { !isOutdated($0.value.verdict) }
    old = old.filter { !isOutdated($0.value.verdict) }
  }

  private mutating func insert(_ entry: Entry, _ hash: Int) {
    if young.count >= generationCapacity {
      old = young
      young = [:]
    }
    young[hash] = entry
  }

  /// Seeded per process, so that nobody can choose tokens that collide.
  private static func hash(_ bytes: UnsafeRawBufferPointer) -> Int {
    var hasher = Hasher()
    hasher.combine(bytes: bytes)
    return hasher.finalize()
  }
}

/// Verified tokens: only holders of a key get in.
package typealias ProviderTokenCache = ProviderTokenMemory<VerifiedProviderToken>

extension ProviderTokenCache {
  /// Tokens in one generation.
  package static var generationCapacity: Int { 1024 }

  package init() { self.init(generationCapacity: Self.generationCapacity) }
}
