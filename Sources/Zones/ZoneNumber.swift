/// Names a part of the token map, from 0 up to the number of zones that the cluster was made with.
public struct ZoneNumber: Hashable, Comparable, Sendable, CustomStringConvertible {
  public var number: Int

  public init(_ number: Int) { self.number = number }

  public static func < (left: ZoneNumber, right: ZoneNumber) -> Bool { left.number < right.number }
  public var description: String { String(number) }
}
