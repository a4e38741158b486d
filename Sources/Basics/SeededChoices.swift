/// A repeatable source of choices: a counter, scrambled (the SplitMix64 generator of Steele, Lea and Flood, 2014). Not for
/// secrets.
public struct SeededChoices: RandomNumberGenerator, Sendable {
  public var counter: UInt64

  @inlinable public init(seed: UInt64) { counter = seed }

  /// A source for one rule of a run: the run's seed and the rule's name decide.
  public init(seed: UInt64, name: String) { counter = seed ^ FNV1a.hash(name.utf8) }

  @inlinable
  public mutating func next() -> UInt64 {
    counter &+= 0x9e37_79b9_7f4a_7c15
    var value = counter
    value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
    value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
    return value ^ value >> 31
  }

  /// A number from 0 up to, not including, 1.
  public mutating func unit() -> Double { Double(next() >> 11) / Double(1 << 53) }

  /// A whole number from 0 to `limit`.
  public mutating func whole(upTo limit: Int64) -> Int64 {
    limit <= 0 ? 0 : Int64(unit() * Double(limit + 1))
  }

  /// So many bytes.
  public mutating func bytes(_ count: Int) -> [UInt8] {
    (0..<max(0, count)).map { _ in UInt8(truncatingIfNeeded: next() >> 32) }
  }
}

/// A quick hash of a few bytes, the same on each machine and for good (FNV-1a of 64 bits). Not for secrets.
public enum FNV1a {
  public static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return hash
  }
}

extension [UInt8] {
  /// So many bytes of the system's own generator, which are good for secrets.
  public static func random(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: .min ... .max) }
  }
}
