import CourierWire
import PushModel

/// What a simulated device tells whoever watches it.
public enum DeviceEvent: Equatable, Sendable {
  /// It has a certificate of its own now.
  case activated(UDID)
  /// The service knows it.
  case connected(baseToken: DeviceToken)
  /// An app has a token: the first time in a run, and when it changes.
  case token(Topic, DeviceToken)
  /// The service gives no token for an app.
  case tokenRefused(Topic, status: UInt8)
  case notification(DeviceNotification)
  /// Something was done to an app.
  case app(Topic, AppStateChange.Action)
  /// The whole device was erased.
  case erased(UDID)
  /// The connection has ended, or did not come about.
  case disconnected(reason: String)
}
