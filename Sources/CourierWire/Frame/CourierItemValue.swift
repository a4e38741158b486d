/// An item that is kept although nobody here knows what it means.
public struct CourierItemValue: Hashable, Sendable {
  public let id: UInt8
  public let bytes: [UInt8]

  public init(id: UInt8, bytes: [UInt8]) {
    self.id = id
    self.bytes = bytes
  }

  public init(_ item: CourierItemView) {
    self.init(id: item.id, bytes: item.bytes)
  }
}
