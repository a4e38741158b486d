import Broker
import PushModel
import Transport

/// Devices that are streams of the console: whoever reads one is a device that is online. Implemented by the emulator.
public protocol DeviceStreams: AnyObject {
  /// Begins a stream as the answer of `exchange`. Answers why not, before anything of the answer has left.
  func open(_ order: DeviceStreamOrder, _ exchange: HTTPExchange) -> DeviceStreamRefusal?
  /// The device has these notifications; answers how many of them it had not acknowledged, nil if it has no open stream.
  func acknowledge(_ ids: [UInt64], by udid: UDID, in environment: Environment) -> Int?
}

/// What a stream is to be.
public struct DeviceStreamOrder: Sendable {
  public var udid: UDID
  public var environment: Environment
  /// Apps that are registered as if they were installed; none: whatever is installed on the device, now and later.
  public var topics: [Topic] = []
  /// Notifications are unacknowledged until they are named (`DeviceStreams.acknowledge`), and not only until they have left.
  public var isExplicit = false

  public init(udid: UDID, environment: Environment) { (self.udid, self.environment) = (udid, environment) }
}

/// Why there is no stream.
public enum DeviceStreamRefusal: Error, Equatable, Sendable {
  /// There are so many already.
  case busy(limit: Int)
  /// A table takes no more: `what` names what there may be `limit` of.
  case full(_ what: String, limit: Int)
}
