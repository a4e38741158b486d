import Broker
import LegacyWire
import PushModel

extension Broker {
  /// A frame that can't be parsed is remembered too, with as much of it as was understood.
  func recordFailure(
    _ failure: LegacyParseFailure, _ frame: [UInt8], from provider: GatewayProvider, now: Timestamp
  ) -> UInt64 {
    let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
    var submission = Submission(
      interface: .gateway, topic: provider.topic, environment: provider.environment, token: nothing,
      payload: nothing)
    submission.command = failure.command
    submission.identifier = failure.identifier
    submission.detail = NotificationDetail(explanation: failure.sentence)
    submission.connection = provider.connection
    return frame.withUnsafeBytes {
      submission.frame = $0
      return recordRejection(submission, .protocolError, now: now)
    }
  }
}
