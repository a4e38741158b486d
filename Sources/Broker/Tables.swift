import Basics
import CProcessor
import PushModel

/// A growing table of plain values, addressed by the ids of its rows. Elements keep their place in order, not in memory.
///
/// Arrays of a class pay an exclusivity check and a reference count at each touch; the push path touches several
/// tables for every frame, so these are bare memory with a bounds check.
@frozen public struct PlainTable<ID: RowID, Element: BitwiseCopyable>: ~Copyable {
  public var base: UnsafeMutablePointer<Element>
  public private(set) var count = 0
  public var capacity: Int

  init(capacity: Int = 64) {
    self.capacity = capacity
    base = .allocate(capacity: capacity)
  }

  deinit { base.deallocate() }

  public subscript(id: ID) -> Element {
    @inline(__always) unsafeAddress { address(id) }
    @inline(__always) nonmutating unsafeMutableAddress {
      precondition(contains(id))
      return base + id.index
    }
  }

  /// Where an element lies until the table changes.
  @inline(__always)
  func address(_ id: ID) -> UnsafePointer<Element> {
    precondition(contains(id))
    return UnsafePointer(base + id.index)
  }

  /// Prefetches the first and the last bytes of an element.
  @inline(__always)
  func prefetch(_ id: ID) {
    guard contains(id) else { return }
    let element = UnsafeRawPointer(base + id.index)
    CProcessor.prefetch(element)
    CProcessor.prefetch(element + MemoryLayout<Element>.size - 1)
  }

  @inline(__always)
  func contains(_ id: ID) -> Bool { id.index >= 0 && id.index < count }

  /// Every row's id, in order.
  var ids: some Sequence<ID> { ID.rows(below: count) }

  /// Adds an element; answers its id.
  @discardableResult
  mutating func append(_ element: Element) -> ID {
    if count == capacity { grow() }
    (base + count).initialize(to: element)
    count += 1
    return ID(count - 1)
  }

  mutating func removeAll() { count = 0 }

  private mutating func grow() {
    let larger = UnsafeMutablePointer<Element>.allocate(capacity: capacity * 2)
    larger.update(from: base, count: count)
    base.deallocate()
    base = larger
    capacity *= 2
  }
}

/// Finds a registration by its token: open addressing, linear probing, at most half full.
///
/// Tokens may be chosen by whoever uses them, so they are hashed under a key of this index: nobody outside can choose ones that
/// collide. An entry holds 32 more bits of the hash beside the row, so a probe rarely touches the registration itself.
public struct TokenIndex: ~Copyable {
  private var entries: UnsafeMutablePointer<UInt64>
  private var mask: Int
  private var used = 0
  private static let empty = UInt64.max
  private let key = (
    UInt64.random(in: 0 ... .max), UInt64.random(in: 0 ... .max), UInt64.random(in: 0 ... .max),
    UInt64.random(in: 0 ... .max)
  )

  public init(capacity: Int = 1024) {
    mask = capacity - 1
    entries = .allocate(capacity: capacity)
    entries.initialize(repeating: Self.empty, count: capacity)
  }

  deinit { entries.deallocate() }

  /// The id stored for `token`, confirmed by `matches`; nil if there is none.
  @inline(__always)
  public func find(_ token: DeviceToken, matches: (RegistrationID) -> Bool) -> RegistrationID? {
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
  public func prefetch(_ token: DeviceToken) -> UInt64 {
    let hash = hash(token)
    CProcessor.prefetch(entries + Int(truncatingIfNeeded: hash) & mask)
    return hash
  }

  /// The row of the first entry where a token with this hash should be, which is mostly the token's.
  @inline(__always)
  public func likelyRow(_ hash: UInt64) -> RegistrationID? {
    let entry = entries[Int(truncatingIfNeeded: hash) & mask]
    return (entry ^ hash) & Self.tagBits == 0 ? Self.id(entry) : nil
  }

  /// Forgets every entry.
  mutating func removeAll() {
    entries.update(repeating: Self.empty, count: mask + 1)
    used = 0
  }

  /// Adds an entry; the token must not be present. `tokenOf` tells those of the others, should they have to be placed again.
  public mutating func insert(
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

/// A reusable piece of memory for one notification, owned by the table row that holds it. Grows by powers of two, and is
/// never larger than twice the largest notification.
struct ByteBox: BitwiseCopyable {
  private var base: UnsafeMutableRawPointer?
  /// Bytes of memory, used or not.
  private(set) var capacity: UInt32 = 0
  private(set) var count: UInt32 = 0

  init() { base = nil }

  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: Int(count)) }
  var span: Span<UInt8> {
    @_lifetime(borrow self) get { unsafe _overrideLifetime(bytes.span, borrowing: self) }
  }

  /// Replaces the content.
  @inline(__always)
  mutating func assign(_ source: Span<UInt8>) {
    if source.count > Int(capacity) { reallocate(source.count) }
    source.withUnsafeBytes {
      if let from = $0.baseAddress { base?.copyMemory(from: from, byteCount: $0.count) }
    }
    count = UInt32(truncatingIfNeeded: source.count)
  }

  /// Replaces the content with two or three pieces, one after the other.
  mutating func assign(
    _ first: Span<UInt8>, _ second: Span<UInt8>, _ third: Span<UInt8> = .none
  ) {
    let total = first.count + second.count + third.count
    if total > Int(capacity) { reallocate(total) }
    guard var position = base else { return }
    Self.put(first, at: &position)
    Self.put(second, at: &position)
    Self.put(third, at: &position)
    count = UInt32(truncatingIfNeeded: total)
  }

  /// Takes some bytes out, and holds no more memory than the others need.
  mutating func remove(_ part: Range<Int>) {
    let part = part.clamped(to: 0..<Int(count))
    guard !part.isEmpty else { return }
    var rest = ByteBox()
    rest.base = .allocate(byteCount: max(1, Int(count) - part.count), alignment: 16)
    rest.capacity = count - UInt32(truncatingIfNeeded: part.count)
    rest.assign(
      span.extracting(first: part.lowerBound), span.extracting(droppingFirst: part.upperBound))
    free()
    self = rest
  }

  /// Gives the memory back.
  mutating func free() {
    base?.deallocate()
    (base, capacity, count) = (nil, 0, 0)
  }

  private mutating func reallocate(_ needed: Int) {
    base?.deallocate()
    var size = 128
    while size < needed { size *= 2 }
    base = .allocate(byteCount: size, alignment: 16)
    capacity = UInt32(size)
  }

  @inline(__always)
  private static func put(_ piece: Span<UInt8>, at position: inout UnsafeMutableRawPointer) {
    piece.withUnsafeBytes {
      if let source = $0.baseAddress { position.copyMemory(from: source, byteCount: $0.count) }
    }
    position += piece.count
  }
}
