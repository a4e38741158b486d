/// Why a device's proof of identity is not accepted in strict mode.
public struct DeviceRefusal: Error, Equatable, Sendable, CustomStringConvertible {
  /// What is wrong; two refusals are equal when this is.
  public enum Code: Sendable {
    /// The nonce has another form.
    case badNonce
    /// The nonce is too old or from the future: the device should be told the server's time.
    case badClock
    /// The signature does not begin with the two bytes for SHA-1 and RSA.
    case badSignatureKind
    /// The signature was not made with the certificate's key.
    case badSignature
    /// The certificate can't be parsed, has an unfit key or names no device.
    case badCertificate
    case unknownCA
    case expired
    /// The very proof was accepted before.
    case repeated
  }

  public let code: Code
  /// A lower-case sentence without a full stop.
  public let sentence: String

  init(_ code: Code, _ sentence: String) {
    self.code = code
    self.sentence = sentence
  }

  public var description: String { sentence }

  public static func == (left: DeviceRefusal, right: DeviceRefusal) -> Bool { left.code == right.code }
}
