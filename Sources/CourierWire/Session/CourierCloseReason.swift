/// Why a device connection ends from this side.
public enum CourierCloseReason: Equatable, Sendable, CustomStringConvertible {
  /// The peer broke the protocol.
  case protocolError(CourierProtocolError)
  /// A command that needs an identity came before any was accepted.
  case commandBeforeConnect(UInt8)
  /// A second connect came before the first was answered.
  case connectWhileVerifying
  /// Too many bytes without an accepted identity.
  case tooManyBytesBeforeConnect
  /// No identity was accepted in time.
  case authenticationTimeout
  /// Nothing was heard for `CourierLimits.idleNanoseconds`.
  case idle
  /// Certificate, signature or token were refused.
  case identityRefused
  /// More identities than `CourierLimits.identitiesPerConnection`.
  case tooManyIdentities
  /// More connects than `CourierLimits.connectsPerConnection`.
  case tooManyConnects
  /// It acknowledged too much of what it was never sent.
  case tooManyStrayAcknowledgements
  /// It told more of its phone than `PhoneReportAllowance` lets it.
  case tooManyReports

  public var description: String {
    switch self {
    case .protocolError(let error): error.description
    case .commandBeforeConnect(let command): "command \(command) came before connect"
    case .connectWhileVerifying: "a second connect came before the first was answered"
    case .tooManyBytesBeforeConnect: "too many bytes before connect"
    case .authenticationTimeout: "no identity in time"
    case .idle: "nothing was heard for too long"
    case .identityRefused: "the identity was refused"
    case .tooManyIdentities: "too many identities on one connection"
    case .tooManyConnects: "too many connects on one connection"
    case .tooManyStrayAcknowledgements: "it acknowledged too many messages that it was not sent"
    case .tooManyReports: "it told too much of its phone"
    }
  }
}
