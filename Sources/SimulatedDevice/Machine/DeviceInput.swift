import PushModel

/// What happens to a simulated device.
public enum DeviceInput {
  /// Switched on.
  case start
  /// Switched off for good.
  case stop
  /// The wake-up that was scheduled, or any other moment.
  case timePassed
  /// A key was made and the service has issued a certificate for it.
  case activated
  case activationFailed(reason: String)
  /// The TLS connection to the courier is up; `date` is the world's, which the device signs.
  case transportOpened(date: Timestamp)
  /// The TLS connection has ended, or did not come about. Not to be told after `DeviceAction.disconnect`.
  case transportClosed(reason: String)
  /// The device certificate in DER, and the signature over the nonce as the protocol has it: `01 01`, then RSA-SHA1.
  case signed(certificate: [UInt8], signature: [UInt8])
  /// Bytes from the courier, lent for the call.
  case received(UnsafeRawBufferPointer)
  /// A person installs an app.
  case install(Topic)
  /// A person removes an app.
  case remove(Topic)
}
