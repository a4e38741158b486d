import Console
import ConsoleAnswers
import PushModel
import Transport
import WaysIn

/// Streams that say nothing, and remember what they were asked.
final class FakeStreams: DeviceStreams, @unchecked Sendable {
  private(set) var orders: [DeviceStreamOrder] = []
  private(set) var acknowledged: [UInt64] = []
  /// What is answered to the next who asks.
  var refusal: ConsoleError?
  /// Of devices other than this one there is none.
  var udid = "phone-1"

  func open(_ order: DeviceStreamOrder, _ exchange: HTTPExchange) throws(ConsoleError) {
    orders.append(order)
    if let refusal { throw refusal }
    exchange.startStream(.eventStream())
  }

  func acknowledge(_ ids: [UInt64], by udid: UDID, in environment: Environment) -> Int? {
    guard udid.text == self.udid else { return nil }
    acknowledged += ids
    return ids.count
  }
}
