import PushModel

/// A device that has proved who it is.
public struct VerifiedDevice: Equatable, Sendable {
  public var udid: UDID
  /// SHA-256 over the public key (SubjectPublicKeyInfo): another key is another identity.
  public var keyFingerprint: [UInt8]
  /// What strict mode has against it, where lenient mode let it pass.
  public var leniency: DeviceRefusal?
}
