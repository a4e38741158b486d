import Broker
import PushModel

// Tests name rows by their numbers.

extension DeviceID: ExpressibleByIntegerLiteral {
  public init(integerLiteral value: Int32) { self.init(number: value) }
}

extension TopicID: ExpressibleByIntegerLiteral {
  public init(integerLiteral value: Int32) { self.init(number: value) }
}

extension RegistrationID: ExpressibleByIntegerLiteral {
  public init(integerLiteral value: Int32) { self.init(number: value) }
}

extension Registry {
  package var devices: [Device] { DeviceID.rows(below: deviceCount).map { self[$0] } }
  package var topics: [TopicEntry] { TopicID.rows(below: topicCount).map { self[$0] } }
}
