import PushModel

/// What the owner of a simulated device has to do, in order.
public enum DeviceAction: Equatable {
  /// Make a new key, get a certificate for it with `ActivationRequest`, keep both, answer `activated` or
  /// `activationFailed`.
  case activate(UDID)
  /// Open a TLS connection to the courier, answer `transportOpened` or `transportClosed`.
  case connect
  /// Sign the nonce with the device's key, answer `signed`.
  case sign(nonce: [UInt8])
  /// Write to the courier.
  case send([UInt8])
  /// Close the connection once everything is written; nothing more is told of it.
  case disconnect
  /// Keep this for the next run.
  case persist(DeviceState)
  /// Tell whoever watches. An owner that stops now has to carry out what stands before and behind it first.
  case emit(DeviceEvent)
  /// Give `timePassed` then; replaces the earlier one.
  case scheduleWake(at: Instant)
}
