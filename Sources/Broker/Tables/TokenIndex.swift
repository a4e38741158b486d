import CProcessor
import PushModel

/// Finds a registration by its token: open addressing, linear probing, at most half full.
///
/// Tokens may be chosen by whoever uses them, so they are hashed under a key of this index: nobody outside can choose ones that
/// collide. An entry holds 32 more bits of the hash beside the row, so a probe rarely touches the registration itself.
package struct TokenIndex: ~Copyable {
  private var entries: UnsafeMutablePointer<UInt64>
  private var mask: Int
  private var used = 0
  private static let empty = UInt64.max
  private let key = (
    UInt64.random(in: 0 ... .max), UInt64.random(in: 0 ... .max), UInt64.random(in: 0 ... .max),
    UInt64.random(in: 0 ... .max)
  )

  package init(capacity: Int = 1024) {
    mask = capacity - 1
    entries = .allocate(capacity: capacity)
    entries.initialize(repeating: Self.empty, count: capacity)
  }

  deinit { entries.deallocate() }

  /// The id stored for `token`, confirmed by `matches`; nil if there is none.
  @inline(__always)
  package func find(_ token: DeviceToken, matches: (RegistrationID) -> Bool) -> RegistrationID? {
    let hash = hash(token)
    let tag = hash & Self.tagBits
    var slot = Int(truncatingIfNeeded: hash) & mask
    while true {
      let entry = entries[slot]
      if entry == Self.empty { return nil }
      if entry & Self.tagBits == tag {
        let id = Self.id(entry)
        if matches(id) { return id }
      }
      slot = (slot + 1) & mask
    }
  }

  /// The token's hash, prefetching the place where its entry should be.
  @inline(__always)
  package func prefetch(_ token: DeviceToken) -> UInt64 {
    let hash = hash(token)
    CProcessor.prefetch(entries + Int(truncatingIfNeeded: hash) & mask)
    return hash
  }

  /// The row of the first entry where a token with this hash should be, which is mostly the token's.
  @inline(__always)
  package func likelyRow(_ hash: UInt64) -> RegistrationID? {
    let entry = entries[Int(truncatingIfNeeded: hash) & mask]
    return (entry ^ hash) & Self.tagBits == 0 ? Self.id(entry) : nil
  }

  /// Forgets every entry.
  mutating func removeAll() {
    entries.update(repeating: Self.empty, count: mask + 1)
    used = 0
  }

  /// Adds an entry; the token must not be present. `tokenOf` tells those of the others, should they have to be placed again.
  package mutating func insert(
    _ token: DeviceToken, _ id: RegistrationID, tokenOf: (RegistrationID) -> DeviceToken
  ) {
    if (used + 1) * 2 > mask + 1 { grow(tokenOf) }
    place(hash(token), id)
    used += 1
  }

  @inline(__always)
  private static func id(_ entry: UInt64) -> RegistrationID {
    RegistrationID(number: Int32(truncatingIfNeeded: entry))
  }

  /// Two products of two words each, folded: the low half names a slot, the high half is the tag.
  @inline(__always)
  private func hash(_ token: DeviceToken) -> UInt64 {
    let first = (token.words.0 ^ key.0).multipliedFullWidth(by: token.words.1 ^ key.1)
    let second = (token.words.2 ^ key.2).multipliedFullWidth(by: token.words.3 ^ key.3)
    let (left, right) = (first.high ^ first.low, second.high ^ second.low)
    return left ^ (right << 29 | right >> 35)
  }

  private static let tagBits: UInt64 = 0xffff_ffff_0000_0000

  private mutating func place(_ hash: UInt64, _ id: RegistrationID) {
    let entry = hash & Self.tagBits | UInt64(UInt32(bitPattern: id.number))
    var slot = Int(truncatingIfNeeded: hash) & mask
    while entries[slot] != Self.empty { slot = (slot + 1) & mask }
    entries[slot] = entry
  }

  private mutating func grow(_ tokenOf: (RegistrationID) -> DeviceToken) {
    let (old, oldCount) = (entries, mask + 1)
    mask = oldCount * 2 - 1
    entries = .allocate(capacity: oldCount * 2)
    entries.initialize(repeating: Self.empty, count: oldCount * 2)
    for slot in 0..<oldCount where old[slot] != Self.empty {
      let id = Self.id(old[slot])
      place(hash(tokenOf(id)), id)
    }
    old.deallocate()
  }
}
