import Basics
import CourierWire
import PushModel

/// What happens to a simulated device.
package enum DeviceInput {
  /// Switched on.
  case start
  /// Switched off for good.
  case stop
  /// The wake-up that was scheduled, or any other moment.
  case timePassed
  /// A key was made and the service has issued a certificate for it.
  case activated
  case activationFailed(reason: String)
  /// The TLS connection to the courier is being opened only now: its time begins.
  case transportOpening
  /// The TLS connection to the courier is up; `date` is the wall clock's, which the device signs.
  case transportOpened(date: Timestamp)
  /// The TLS connection has ended, or did not come about; `isUnreachable` says that nobody was there to take it. Not to be told after
  /// `DeviceAction.disconnect`.
  case transportClosed(reason: String, isUnreachable: Bool = false)
  /// The device certificate in DER, and the signature over the nonce as the protocol has it: `01 01`, then RSA-SHA1.
  case signed(certificate: [UInt8], signature: [UInt8])
  /// It has no network any more: it is offline until `networkFound`, and does not try.
  case networkLost
  case networkFound
  /// Bytes from the courier.
  case received([UInt8])
  /// A person installs an app.
  case install(Topic)
  /// A person removes an app.
  case remove(Topic)
  /// The contexts for which its phone wants tokens of their own, all of them: new ones are asked for, the tokens of others end.
  case wants([TokenNeed])
  /// The channels to which its phone listens, all of them.
  case listensTo([ChannelNeed])
  /// Its phone has a network or not. Without one the connection stays, for whoever drives the phone, and asks for no
  /// messages, so that they are kept.
  case listens(Bool)
  /// The phone of this device tells of itself; lost while there is no connection.
  case phoneReported(PhoneReport)
}

/// What the owner of a simulated device has to do, in order.
package enum DeviceAction: Equatable {
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
  /// For the phone of this device.
  case orderPhone(PhoneOrderCommand)
  /// Give `timePassed` then; replaces the earlier one.
  case scheduleWake(at: Instant)
}
