/// Which keys a device may have (`Documentation/device-protocol.md#authentication`).
enum DeviceKeyPolicy {
  /// RSA modulus, in bits: macOS uses 1024. Above the upper bound one verification costs too much.
  static let bits = 1024...4096

  static func accepts(_ key: PublicKey) -> Bool { key.isRSA && bits.contains(key.bits) }

  /// What is wanted, for error sentences.
  static let sentence = "an RSA key of \(bits.lowerBound) to \(bits.upperBound) bits"
}
