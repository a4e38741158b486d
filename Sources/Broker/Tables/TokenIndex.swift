import PushModel

/// Finds a registration by its token: open addressing, linear probing, at most half full.
///
/// Tokens are outputs of an HMAC, so their first word is a good hash and nobody outside can choose colliding entries.
/// An entry holds 32 more bits of the token beside the row, so a probe rarely touches the registration itself.
package struct TokenIndex: ~Copyable {
  private var entries: UnsafeMutablePointer<UInt64>
  private var mask: Int
  private var used = 0
  private static let empty = UInt64.max

  package init(capacity: Int = 1024) {
    mask = capacity - 1
    entries = .allocate(capacity: capacity)
    entries.initialize(repeating: Self.empty, count: capacity)
  }

  deinit { entries.deallocate() }

  /// The id stored for `token`, confirmed by `matches`; nil if there is none.
  @inline(__always)
  package func find(_ token: DeviceToken, matches: (RegistrationID) -> Bool) -> RegistrationID? {
    let tag = token.words.1 & 0xffff_ffff_0000_0000
    var slot = Int(truncatingIfNeeded: token.words.0) & mask
    while true {
      let entry = entries[slot]
      if entry == Self.empty { return nil }
      if entry & 0xffff_ffff_0000_0000 == tag {
        let id = Self.id(entry)
        if matches(id) { return id }
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
  package mutating func insert(_ token: DeviceToken, _ id: RegistrationID) {
    if (used + 1) * 2 > mask + 1 { grow() }
    place(token.words.0, token.words.1 & 0xffff_ffff_0000_0000 | UInt64(UInt32(bitPattern: id.number)))
    used += 1
  }

  @inline(__always)
  private static func id(_ entry: UInt64) -> RegistrationID {
    RegistrationID(number: Int32(truncatingIfNeeded: entry))
  }

  /// What `grow` needs besides the entries: the first word of each stored token.
  package var firstWord: (RegistrationID) -> UInt64 = { _ in 0 }

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
      place(firstWord(Self.id(old[slot])), old[slot])
    }
    old.deallocate()
  }
}
