/// A version of iOS: `18`, `17.2`.
public struct IOSVersion: Comparable, Hashable, Sendable, CustomStringConvertible {
  /// The first whose rules are known, and the last.
  public static let supported = first...IOSVersion(26, 99)
  static let first = IOSVersion(7)
  public static let standard = IOSVersion(18)

  public let major: Int
  public let minor: Int

  public init(_ major: Int, _ minor: Int = 0) { (self.major, self.minor) = (major, minor) }

  /// Reads `18` or `17.2`; nil for anything else and for what is not `supported`.
  public init?(_ text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    let numbers = parts.compactMap { $0.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int($0) : nil }
    guard (1...2).contains(parts.count), numbers.count == parts.count else { return nil }
    self.init(numbers[0], numbers.count == 2 ? numbers[1] : 0)
    guard Self.supported.contains(self) else { return nil }
  }

  public var description: String { minor == 0 ? "\(major)" : "\(major).\(minor)" }

  public static func < (left: Self, right: Self) -> Bool {
    (left.major, left.minor) < (right.major, right.minor)
  }

  /// There is a user notification centre, whose delegate is asked.
  var hasDelegate: Bool { self >= IOSVersion(10) }
}
