/// One header field.
public struct HTTPField: Equatable, Sendable {
  public var name: String
  public var value: String

  public init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
}

extension [HTTPField] {
  /// The value of the first field of this name, which is compared without case; nil if there is none.
  public func first(named name: String) -> String? { first { $0.isNamed(name) }?.value }

  /// The values of all fields of this name, in order.
  public func all(named name: String) -> [String] { filter { $0.isNamed(name) }.map(\.value) }
}

extension HTTPField {
  func isNamed(_ other: String) -> Bool {
    name.utf8.count == other.utf8.count
      && zip(name.utf8, other.utf8).allSatisfy { ASCII.lowercased($0) == ASCII.lowercased($1) }
  }
}
