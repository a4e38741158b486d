import PushModel

/// Finds a registration by its token: open addressing, linear probing, at most half full.
///
/// Tokens are outputs of an HMAC, so their first word is a good hash and nobody outside can choose colliding entries.
/// An entry holds 32 more bits of the token beside the index, so a probe rarely touches the registration itself.
struct TokenIndex: ~Copyable {
  private var entries: UnsafeMutablePointer<UInt64>
  private var mask: Int
  private var used = 0
  private static let empty = UInt64.max

  init(capacity: Int = 1024) {
    mask = capacity - 1
    entries = .allocate(capacity: capacity)
    entries.initialize(repeating: Self.empty, count: capacity)
  }

  deinit { entries.deallocate() }

  /// The index stored for `token`, confirmed by `matches`; nil if there is none.
  @inline(__always)
  func find(_ token: DeviceToken, matches: (Int) -> Bool) -> Int? {
    let tag = token.words.1 & 0xffff_ffff_0000_0000
    var slot = Int(truncatingIfNeeded: token.words.0) & mask
    while true {
      let entry = entries[slot]
      if entry == Self.empty { return nil }
      if entry & 0xffff_ffff_0000_0000 == tag {
        let index = Int(entry & 0xffff_ffff)
        if matches(index) { return index }
      }
      slot = (slot + 1) & mask
    }
  }

  /// Forgets every entry.
  mutating func removeAll() {
    entries.update(repeating: Self.empty, count: mask + 1)
    used = 0
  }

  /// Adds an entry; the token must not be present.
  mutating func insert(_ token: DeviceToken, _ index: Int) {
    if (used + 1) * 2 > mask + 1 { grow() }
    place(token.words.0, token.words.1 & 0xffff_ffff_0000_0000 | UInt64(UInt32(truncatingIfNeeded: index)))
    used += 1
  }

  /// What `grow` needs besides the entries: the first word of each stored token.
  var firstWord: (Int) -> UInt64 = { _ in 0 }

  private mutating func place(_ hash: UInt64, _ entry: UInt64) {
    var slot = Int(truncatingIfNeeded: hash) & mask
    while entries[slot] != Self.empty { slot = (slot + 1) & mask }
    entries[slot] = entry
  }

  private mutating func grow() {
    let (old, oldCount) = (entries, mask + 1)
    mask = oldCount * 2 - 1
    entries = .allocate(capacity: oldCount * 2)
    entries.initialize(repeating: Self.empty, count: oldCount * 2)
    for slot in 0..<oldCount where old[slot] != Self.empty {
      place(firstWord(Int(old[slot] & 0xffff_ffff)), old[slot])
    }
    old.deallocate()
  }
}
