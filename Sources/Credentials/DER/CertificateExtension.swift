import Basics
import PushModel

/// An extension of a certificate as OpenSSL's configuration has it (x509v3_config(5)).
public struct CertificateExtension {
  /// OpenSSL's word, or an object identifier.
  var name: String
  var value: String

  init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }

  /// One whose value, inside the octet string, is given in DER.
  public init(_ name: String, der: [UInt8]) { self.init(name, "DER:" + Hex.encode(der)) }
}

extension CertificateExtension {
  /// What a key may be used for (RFC 5280 4.2.1.3).
  enum KeyUsage: String {
    case digitalSignature, keyEncipherment
    case certificateSigning = "keyCertSign"
    case revocationListSigning = "cRLSign"
  }

  /// Purposes in the extended key usage extension.
  public enum Purpose: String {
    case serverAuthentication = "serverAuth"
    case clientAuthentication = "clientAuth"
  }

  /// Marks a certificate that may sign others, or one that may not.
  static func basicConstraints(isCA: Bool) -> CertificateExtension {
    CertificateExtension("basicConstraints", "critical,CA:\(isCA ? "TRUE" : "FALSE")")
  }

  static func keyUsage(_ usages: KeyUsage...) -> CertificateExtension {
    CertificateExtension("keyUsage", "critical," + usages.map(\.rawValue).joined(separator: ","))
  }

  public static func extendedKeyUsage(_ purpose: Purpose) -> CertificateExtension {
    CertificateExtension("extendedKeyUsage", purpose.rawValue)
  }

  static let subjectAlternativeNamesIdentifier = "subjectAltName"
  static let authorityKeyIdentifierIdentifier = "authorityKeyIdentifier"

  /// Host names and IP addresses that a server may be reached by.
  package static func subjectAlternativeNames(hosts: [String], addresses: [String]) -> CertificateExtension {
    let names = hosts.map { "DNS:" + $0 } + addresses.map { "IP:" + $0 }
    return CertificateExtension(subjectAlternativeNamesIdentifier, names.joined(separator: ","))
  }

  static func subjectKeyIdentifier(_ identifier: [UInt8]) -> CertificateExtension {
    CertificateExtension("subjectKeyIdentifier", der: DER.value(0x04, identifier))
  }

  static func authorityKeyIdentifier(_ identifier: [UInt8]) -> CertificateExtension {
    CertificateExtension(authorityKeyIdentifierIdentifier, der: DER.value(0x30, DER.value(0x80, identifier)))
  }
}

/// Apple's extensions of push certificates (`Documentation/provider-api.md#extensions`).
extension CertificateExtension {
  /// The arc of the three below.
  private static let pushArc = "1.2.840.113635.100.6.3"

  /// Identifier of the extension that allows one environment: .1 development, .2 production.
  static func pushIdentifier(_ environment: Environment) -> String {
    switch environment {
    case .sandbox: pushArc + ".1"
    case .production: pushArc + ".2"
    }
  }

  /// Identifier of the extension that lists the topics.
  package static let topicsIdentifier = pushArc + ".6"

  /// Allows the use of one environment.
  public static func push(_ environment: Environment) -> CertificateExtension {
    CertificateExtension(pushIdentifier(environment), "ASN1:NULL")
  }

  /// Lists the topics.
  public static func topics(_ topics: [PushTopic]) -> CertificateExtension {
    CertificateExtension(topicsIdentifier, der: TopicsExtension.encode(topics))
  }
}
