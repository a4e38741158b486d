import ProviderAPI
import PushModel
import Testing

@Suite("Stream throttle")
struct StreamThrottleTests {
  /// `Documentation/provider-api.md#settings`.
  @Test("raises a token connection from 1 to 1000 with its first valid token")
  func token() {
    var throttle = StreamThrottle(usesTokens: true)
    #expect(throttle.limit == 1)
    let steps = [
      throttle.requestJudged(authenticated: false, rejection: .invalidProviderToken),
      throttle.requestJudged(authenticated: true, rejection: .missingTopic),
      throttle.requestJudged(authenticated: true, rejection: nil),
      throttle.requestJudged(authenticated: true, rejection: .badDeviceToken),
    ]
    #expect(steps == [nil, 1000, nil, nil])
  }

  @Test("begins at 1000 with a certificate")
  func certificate() {
    var throttle = StreamThrottle(usesTokens: false)
    #expect(throttle.limit == 1000)
    let change = throttle.requestJudged(authenticated: false, rejection: .badDeviceToken)
    #expect(change == nil)
  }

  /// `Documentation/provider-api.md#settings`.
  @Test("drops to 1 after a rejection and back after an acceptance, if told to; 410 changes nothing")
  func rejections() {
    var throttle = StreamThrottle(usesTokens: false, throttlesRejections: true)
    let steps = [Rejection?](arrayLiteral: .unregistered, .badDeviceToken, .badTopic, .unregistered, nil, nil)
      .map { throttle.requestJudged(authenticated: false, rejection: $0) }
    #expect(steps == [nil, 1, nil, nil, 1000, nil])
  }

  @Test("raises a lenient connection with its first accepted push")
  func lenient() {
    var throttle = StreamThrottle(usesTokens: true)
    let change = throttle.requestJudged(authenticated: false, rejection: nil)
    #expect(change == 1000)
  }
}
