import PushModel

/// Which moments a rule is about: everything that is named must be so.
public struct FaultMatch: Equatable, Sendable {
  public var place: FaultPlace?
  public var topic: String?
  public var token: [UInt8]?
  public var priority: Priority?
  public var connection: String?

  public init() {}

  func matches(_ point: FaultPoint) -> Bool {
    (place == nil || place == point.place) && (topic == nil || topic == point.topic)
      && (priority == nil || priority == point.priority)
      && (connection == nil || connection == point.connection) && matchesToken(point.token)
  }

  private func matchesToken(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let token else { return true }
    return bytes.elementsEqual(token)
  }
}
