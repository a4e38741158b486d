import PushModel

/// An extension of a certificate, ready to be signed.
package struct CertificateExtension: Equatable {
  /// The content bytes of the object identifier's DER form.
  var identifier: [UInt8]
  var isCritical = false
  /// The DER value inside the octet string.
  var value: [UInt8]

  /// The whole extension in DER.
  package var der: [UInt8] {
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
  package enum Purpose: UInt8 {
    case serverAuthentication = 1
    case clientAuthentication = 2
  }

  /// Marks a certificate that may sign others, or one that may not.
  static func basicConstraints(isCA: Bool) -> CertificateExtension {
    let value = isCA ? DERWriter.sequence(DERWriter.boolean(true)) : DERWriter.sequence()
    return CertificateExtension(identifier: [0x55, 0x1d, 0x13], isCritical: true, value: value)
  }

  static func keyUsage(_ usage: KeyUsage) -> CertificateExtension {
    let unusedBits = UInt8(truncatingIfNeeded: usage.rawValue.trailingZeroBitCount)
    let value = DERWriter.value(DERTag.bitString, [unusedBits, usage.rawValue])
    return CertificateExtension(identifier: [0x55, 0x1d, 0x0f], isCritical: true, value: value)
  }

  package static func extendedKeyUsage(_ purpose: Purpose) -> CertificateExtension {
    let identifier = [0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, purpose.rawValue]
    return CertificateExtension(
      identifier: [0x55, 0x1d, 0x25], value: DERWriter.sequence(DERWriter.objectIdentifier(identifier)))
  }

  static let subjectAlternativeNamesIdentifier: [UInt8] = [0x55, 0x1d, 0x11]
  static let authorityKeyIdentifierIdentifier: [UInt8] = [0x55, 0x1d, 0x23]

  /// Host names and addresses (4 or 16 bytes) that a server may be reached by.
  static func subjectAlternativeNames(hosts: [String], addresses: [[UInt8]]) -> CertificateExtension {
    let names = hosts.map { DERWriter.value(DERTag.context(2), Array($0.utf8)) }
    let numbers = addresses.map { DERWriter.value(DERTag.context(7), $0) }
    return CertificateExtension(
      identifier: subjectAlternativeNamesIdentifier, value: DERWriter.sequence(of: names + numbers))
  }

  static func subjectKeyIdentifier(_ identifier: [UInt8]) -> CertificateExtension {
    CertificateExtension(identifier: [0x55, 0x1d, 0x0e], value: DERWriter.octetString(identifier))
  }

  static func authorityKeyIdentifier(_ identifier: [UInt8]) -> CertificateExtension {
    let value = DERWriter.sequence(DERWriter.value(DERTag.context(0), identifier))
    return CertificateExtension(identifier: authorityKeyIdentifierIdentifier, value: value)
  }
}

/// Apple's extensions of push certificates (`Documentation/provider-api.md#extensions`).
extension CertificateExtension {
  /// 1.2.840.113635.100.6.3, the arc of the three below.
  private static let pushArc: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x63, 0x64, 0x06, 0x03]

  /// Identifier of the extension that allows one environment: .1 development, .2 production.
  static func pushIdentifier(_ environment: Environment) -> [UInt8] {
    switch environment {
    case .sandbox: pushArc + [1]
    case .production: pushArc + [2]
    }
  }

  /// Identifier of the extension that lists the topics.
  static let topicsIdentifier: [UInt8] = pushArc + [6]

  /// Allows the use of one environment.
  package static func push(_ environment: Environment) -> CertificateExtension {
    CertificateExtension(identifier: pushIdentifier(environment), value: DERWriter.null)
  }

  /// Lists the topics.
  package static func topics(_ topics: [PushTopic]) -> CertificateExtension {
    CertificateExtension(identifier: topicsIdentifier, value: TopicsExtension.encode(topics))
  }
}
