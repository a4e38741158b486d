import Basics
import Broker
import PushModel
import TestSupport

import Bridge

extension ForwardPush {
  /// A push with what a test cares about.
  static func sample(
    _ id: UInt64, connection: Int = 1, sequence: UInt64 = 0, token: UInt8 = 1, text: String = "Hi",
    expiration: UInt32? = nil, topicName: String = "com.example.app"
  ) -> ForwardPush {
    let now = Timestamp(seconds: 1_700_000_000)
    let (token, payload) = (
      [UInt8](repeating: token, count: 32), Array(#"{"aps":{"alert":"\#(text)"}}"#.utf8)
    )
    return token.withUnsafeBytes { token in
      payload.withUnsafeBytes { payload in
        var submission = Submission(
          interface: .gateway, topic: 0, environment: .sandbox, token: token.span, payload: payload.span)
        submission.plain.expiration = expiration
        submission.plain.apnsID = APNSID(high: 1, low: id, upperCase: 0)
        var push = ForwardPush(
          submission, topicName: topicName, connection: connection, sequence: sequence, now: now)
        (push.id, push.record) = (id, id)
        return push
      }
    }
  }
}

/// Moments of these tests are numbers of nanoseconds.
extension Instant: ExpressibleByIntegerLiteral {
  public init(integerLiteral nanoseconds: Int64) { self.init(nanoseconds: nanoseconds) }
}
