import Broker
import LegacyWire
import PushModel

extension Broker {
  /// A frame that can't be parsed is remembered too, with as much of it as was understood.
  func recordFailure(_ failure: LegacyParseFailure, from provider: GatewayProvider, now: Timestamp) {
    let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
    var submission = Submission(
      interface: .gateway, topic: provider.topic, environment: provider.environment, token: nothing,
      payload: nothing)
    submission.command = failure.command
    submission.identifier = failure.identifier
    submission.detail = NotificationDetail(explanation: failure.sentence)
    _ = recordRejection(submission, .protocolError, now: now)
  }
}
