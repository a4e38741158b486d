/// An extension of a certificate, ready to be signed.
struct CertificateExtension: Equatable {
  /// The content bytes of the object identifier's DER form.
  var identifier: [UInt8]
  var isCritical = false
  /// The DER value inside the octet string.
  var value: [UInt8]

  /// The whole extension in DER.
  var der: [UInt8] {
    let critical = isCritical ? DERWriter.boolean(true) : []
    return DERWriter.sequence(DERWriter.objectIdentifier(identifier), critical, DERWriter.octetString(value))
  }
}

extension CertificateExtension {
  /// Bits of the key usage extension, the first octet (RFC 5280 4.2.1.3).
  struct KeyUsage: OptionSet {
    let rawValue: UInt8
    static let digitalSignature = KeyUsage(rawValue: 0x80)
    static let keyEncipherment = KeyUsage(rawValue: 0x20)
    static let certificateSigning = KeyUsage(rawValue: 0x04)
    static let revocationListSigning = KeyUsage(rawValue: 0x02)
  }

  /// Purposes in the extended key usage extension.
  enum Purpose: UInt8 {
    case serverAuthentication = 1
    case clientAuthentication = 2
  }

  /// Marks a certificate that may sign others, or one that may not.
  static func basicConstraints(isAuthority: Bool) -> CertificateExtension {
    let value = isAuthority ? DERWriter.sequence(DERWriter.boolean(true)) : DERWriter.sequence()
    return CertificateExtension(identifier: [0x55, 0x1d, 0x13], isCritical: true, value: value)
  }

  static func keyUsage(_ usage: KeyUsage) -> CertificateExtension {
    let unusedBits = UInt8(truncatingIfNeeded: usage.rawValue.trailingZeroBitCount)
    let value = DERWriter.value(DERTag.bitString, [unusedBits, usage.rawValue])
    return CertificateExtension(identifier: [0x55, 0x1d, 0x0f], isCritical: true, value: value)
  }

  static func extendedKeyUsage(_ purpose: Purpose) -> CertificateExtension {
    let identifier = [0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, purpose.rawValue]
    return CertificateExtension(
      identifier: [0x55, 0x1d, 0x25], value: DERWriter.sequence(DERWriter.objectIdentifier(identifier)))
  }

  /// Host names and addresses (4 or 16 bytes) that a server may be reached by.
  static func subjectAlternativeNames(hosts: [String], addresses: [[UInt8]]) -> CertificateExtension {
    let names = hosts.map { DERWriter.value(DERTag.context(2), Array($0.utf8)) }
    let numbers = addresses.map { DERWriter.value(DERTag.context(7), $0) }
    return CertificateExtension(
      identifier: [0x55, 0x1d, 0x11], value: DERWriter.sequence(of: names + numbers))
  }

  static func subjectKeyIdentifier(_ identifier: [UInt8]) -> CertificateExtension {
    CertificateExtension(identifier: [0x55, 0x1d, 0x0e], value: DERWriter.octetString(identifier))
  }

  static func authorityKeyIdentifier(_ identifier: [UInt8]) -> CertificateExtension {
    let value = DERWriter.sequence(DERWriter.value(DERTag.context(0), identifier))
    return CertificateExtension(identifier: [0x55, 0x1d, 0x23], value: value)
  }
}
