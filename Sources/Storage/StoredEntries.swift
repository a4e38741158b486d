import Broker
import PushModel

/// Feedback on tokens of another service.
extension ForeignFeedback.Entry {
  static let columns = [
    RowField<Self>(nil, "token", .bytes, \.token),
    RowField(nil, "topic", .topicRow, \.topic), RowField(nil, "environment", .environment, \.environment),
    RowField(nil, "goneAt", .time, \.goneAt),
  ]

  static let blank = ForeignFeedback.Entry(
    id: 0, token: [], topic: TopicID(0), environment: .sandbox, goneAt: .never)
}

/// Notifications that wait to be forwarded.
extension PendingForwards.Entry {
  static let columns = [
    RowField<Self>(nil, "frame", .bytes, \.frame),
    RowField(nil, "topic", .ofText("a topic", { Topic($0)?.name }, { $0 }), \.topic),
    RowField(nil, "environment", .environment, \.environment),
    RowField(nil, "apnsId", .apnsID, \.apnsID), RowField(nil, "receivedAt", .time, \.receivedAt),
  ]

  static let blank = PendingForwards.Entry(
    id: 0, frame: [], topic: "", environment: .sandbox, apnsID: APNSID(high: 0, low: 0),
    receivedAt: .never)
}
