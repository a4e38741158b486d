/// A version of iOS: `18`, `17.2`.
package struct IOSVersion: Comparable, Hashable, Sendable, CustomStringConvertible {
  /// The first whose rules are known, and the last that is taken (our choice): on those after `newestKnown` its rules apply.
  package static let supported = first...IOSVersion(99, 99)
  static let first = IOSVersion(7)
  /// The newest that Apple's pages are known of.
  package static let newestKnown = IOSVersion(26, 4)
  package static let standard = IOSVersion(26)

  package let major: Int
  package let minor: Int

  package init(_ major: Int, _ minor: Int = 0) { (self.major, self.minor) = (major, minor) }

  /// Reads `18` or `17.2`; nil for anything else and for what is not `supported`.
  package init?(_ text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    let numbers = parts.compactMap { $0.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int($0) : nil }
    guard (1...2).contains(parts.count), numbers.count == parts.count else { return nil }
    self.init(numbers[0], numbers.count == 2 ? numbers[1] : 0)
    guard Self.supported.contains(self) else { return nil }
  }

  /// What to say of one whose rules nobody here knows, for people; nil for the others.
  package var remark: String? {
    guard major > Self.newestKnown.major else { return nil }
    return "the newest known rules apply, those of iOS \(Self.newestKnown)"
  }

  /// What is expected where a version is asked for.
  package static var expected: String { "a version of iOS from \(first) on, as 18 or 17.2" }

  package var description: String { minor == 0 ? "\(major)" : "\(major).\(minor)" }

  package static func < (left: Self, right: Self) -> Bool {
    (left.major, left.minor) < (right.major, right.minor)
  }

  /// There is a user notification centre, whose delegate is asked.
  var hasDelegate: Bool { self >= IOSVersion(10) }
}
