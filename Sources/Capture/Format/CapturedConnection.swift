import PushModel

/// Who a provider connection belongs to, as far as it can be said without its keys.
public struct CapturedConnection: Equatable, Sendable {
  /// Counts the connections of a run from 1; 0 is the console.
  public var number: UInt32
  public var interface: Interface
  public var environment: Environment
  /// The topic of its certificate; nil where it showed none (provider tokens) or one without a topic.
  public var topic: String?

  public init(number: UInt32, interface: Interface, environment: Environment, topic: String?) {
    (self.number, self.interface, self.environment, self.topic) = (number, interface, environment, topic)
  }
}
