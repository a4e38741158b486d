import Basics
import PushModel

/// A table of values, addressed by the ids of its rows. Elements keep their place in order, not in memory.
///
/// An array of a class pays for a count of references and a test of it at each touch; the push path touches several tables for every
/// frame. So this is memory of its own with a check of bounds, the only such in this module. It has one owner, who changes it by
/// `mutating` functions only, so nobody holds what has moved.
///
/// Nothing here grows by itself: see `Sources/Broker/README.md#what-speed-asks-for`.
@safe struct PlainTable<ID: RowID, Element>: ~Copyable {
  private let base: UnsafeMutablePointer<Element>
  private let capacity: Int
  private(set) var count = 0

  init(capacity: Int = 64) {
    self.capacity = max(0, capacity)
    unsafe base = .allocate(capacity: self.capacity)
  }

  /// One with all its rows, which are alike.
  init(repeating element: Element, count: Int) {
    self.init(capacity: count)
    unsafe base.initialize(repeating: element, count: capacity)
    self.count = capacity
  }

  deinit {
    unsafe base.deinitialize(count: count)
    unsafe base.deallocate()
  }

  subscript(id: ID) -> Element {
    @inline(__always) _read {
      precondition(contains(id))
      yield unsafe base[id.index]
    }
    @inline(__always) _modify {
      precondition(contains(id))
      yield unsafe &base[id.index]
    }
  }

  @inline(__always)
  func contains(_ id: ID) -> Bool { id.index >= 0 && id.index < count }

  /// All rows, lent.
  var rows: Span<Element> {
    @_lifetime(borrow self)
    get { unsafe _overrideLifetime(UnsafeBufferPointer(start: base, count: count).span, borrowing: self) }
  }

  /// Whether it has to grow before anything is added.
  @inline(__always)
  var isFull: Bool { count == capacity }

  /// Adds an element, for which there must be room; answers its id.
  @inline(__always)
  @discardableResult
  mutating func append(_ element: consuming Element) -> ID {
    precondition(!isFull)
    unsafe (base + count).initialize(to: element)
    count &+= 1
    return ID(count &- 1)
  }

  /// The same with room for twice as many, but not for more than `limit`.
  @inline(never)
  consuming func grown(atMost limit: Int = .max) -> PlainTable {
    var larger = PlainTable(capacity: max(count, min(limit, max(64, capacity * 2))))
    unsafe larger.base.moveInitialize(from: base, count: count)
    (larger.count, count) = (count, 0)
    return larger
  }
}

extension PlainTable where Element: BitwiseCopyable {
  /// Keeps the memory.
  @inline(__always)
  mutating func removeAll() { count = 0 }
}

/// The place of a row that has no id of its own.
struct TablePlace: RowID {
  let number: Int32
}

/// Finds a registration by its token: open addressing, linear probing, at most half full.
///
/// Tokens may be chosen by whoever uses them, so they are hashed under a key of this index: nobody outside can choose ones that
/// collide. An entry holds 32 more bits of the hash beside the row, so a probe rarely touches the registration itself.
public struct TokenIndex: ~Copyable {
  private var entries: PlainTable<TablePlace, UInt64>
  private let mask: Int
  private var used = 0
  private static let empty = UInt64.max
  private let key: (UInt64, UInt64, UInt64, UInt64)

  public init(capacity: Int = 1024) {
    let any = UInt64.min ... .max
    self.init(capacity, (.random(in: any), .random(in: any), .random(in: any), .random(in: any)))
  }

  private init(_ capacity: Int, _ key: (UInt64, UInt64, UInt64, UInt64)) {
    (mask, self.key) = (capacity - 1, key)
    entries = PlainTable(repeating: Self.empty, count: capacity)
  }

  /// The id stored for `token`, confirmed by `matches`; nil if there is none.
  @inline(__always)
  public func find(_ token: DeviceToken, matches: (RegistrationID) -> Bool) -> RegistrationID? {
    let hash = hash(token)
    let tag = hash & Self.tagBits
    var slot = Int(truncatingIfNeeded: hash) & mask
    while true {
      let entry = entries[TablePlace(slot)]
      if entry == Self.empty { return nil }
      if entry & Self.tagBits == tag {
        let id = Self.id(entry)
        if matches(id) { return id }
      }
      slot = (slot + 1) & mask
    }
  }

  /// Forgets every entry.
  mutating func removeAll() {
    for slot in 0...mask { entries[TablePlace(slot)] = Self.empty }
    used = 0
  }

  /// Whether it has to grow before anything is added.
  public var isFull: Bool { (used + 1) * 2 > mask + 1 }

  /// Adds an entry, for which there must be room; the token must not be present.
  public mutating func insert(_ token: DeviceToken, _ id: RegistrationID) {
    precondition(!isFull)
    place(hash(token), id)
    used += 1
  }

  /// The same with twice the room. `tokenOf` tells the tokens of entries, which have to be placed again.
  public consuming func grown(_ tokenOf: (RegistrationID) -> DeviceToken) -> TokenIndex {
    var larger = TokenIndex((mask + 1) * 2, key)
    for slot in 0...mask where entries[TablePlace(slot)] != Self.empty {
      let id = Self.id(entries[TablePlace(slot)])
      larger.insert(tokenOf(id), id)
    }
    return larger
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
    while entries[TablePlace(slot)] != Self.empty { slot = (slot + 1) & mask }
    entries[TablePlace(slot)] = entry
  }
}

/// A reusable piece of memory for one notification, held by the table row that it is of. Grows by powers of two, and is
/// never larger than twice the largest notification.
///
/// An ordinary value: who has a copy keeps these bytes, and what comes next is written elsewhere.
struct ByteBox {
  private var memory: [UInt8] = []
  private(set) var count: UInt32 = 0

  init() {}

  /// Bytes of memory, used or not.
  @inline(__always)
  var capacity: Int { memory.count }

  var bytes: Span<UInt8> {
    @_lifetime(borrow self)
    @inline(__always) get { memory.span.extracting(first: Int(count)) }
  }

  /// Replaces the content.
  @inline(__always)
  mutating func assign(_ source: Span<UInt8>) {
    makeRoom(source.count)
    var memory = memory.mutableSpan
    memory.overwrite(at: 0, with: source)
  }

  /// Replaces the content with two or three pieces, one after the other.
  mutating func assign(_ first: Span<UInt8>, _ second: Span<UInt8>, _ third: Span<UInt8> = .none) {
    makeRoom(first.count + second.count + third.count)
    var memory = memory.mutableSpan
    memory.overwrite(at: 0, with: first)
    memory.overwrite(at: first.count, with: second)
    memory.overwrite(at: first.count + second.count, with: third)
  }

  /// Takes some bytes out, and holds no more memory than the others need.
  mutating func remove(_ part: Range<Int>) {
    let part = part.clamped(to: 0..<Int(count))
    guard !part.isEmpty else { return }
    memory = Array(memory[..<part.lowerBound] + memory[part.upperBound..<Int(count)])
    count = UInt32(truncatingIfNeeded: memory.count)
  }

  @inline(__always)
  private mutating func makeRoom(_ needed: Int) {
    if needed > memory.count { reallocate(needed) }
    count = UInt32(truncatingIfNeeded: needed)
  }

  @inline(never)
  private mutating func reallocate(_ needed: Int) {
    var size = 128
    while size < needed { size *= 2 }
    memory = []
    memory = [UInt8](repeating: 0, count: size)
  }
}
