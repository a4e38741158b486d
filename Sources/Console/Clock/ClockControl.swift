import PushModel

/// The emulator's clock as the console moves it. Implemented by module `Emulator`.
public protocol ClockControl: AnyObject {
  /// How far it is from the system's clock, in nanoseconds.
  var offset: Int64 { get }
  /// Set while time stands still.
  var frozenAt: Timestamp? { get }
  /// Jumps forward (or back, if negative) by nanoseconds.
  func advance(nanoseconds: Int64)
  /// Makes it `moment` now.
  func set(_ moment: Timestamp)
  /// Stops or goes on from where it stood.
  func setFrozen(_ frozen: Bool)
  /// Follows the system's clock again.
  func reset()
}
