import Basics
import COpenSSL
import Platform

/// What a new certificate will say.
public struct CertificateTemplate {
  var subject: DistinguishedName
  var notBefore: Timestamp
  var notAfter: Timestamp
  var extensions: [CertificateExtension]

  public init(
    subject: DistinguishedName, notBefore: Timestamp, notAfter: Timestamp, extensions: [CertificateExtension]
  ) {
    (self.subject, self.notBefore, self.notAfter) = (subject, notBefore, notAfter)
    self.extensions = extensions
  }

  /// Random bytes in a serial number: unique without a register, and under the 20 octets of RFC 5280 4.1.2.2.
  private static let serialByteCount = 16

  /// The certificate for `publicKey`, signed with `key` by the issuer of that certificate; nil where it is its own issuer.
  public func signed(
    for publicKey: PublicKey, by issuer: Certificate?, with key: PrivateKey
  ) throws(CredentialsError) -> Certificate {
    guard let certificate = unsafe Certificate(taking: X509_new()) else {
      throw OpenSSLError.take("make a certificate")
    }
    let issuer = issuer ?? certificate
    guard fill(certificate, publicKey, issuer), addExtensions(to: certificate, issuer),
      certificate.sign(with: key)
    else { throw OpenSSLError.take("sign a certificate") }
    return certificate
  }

  private func fill(_ certificate: Certificate, _ publicKey: PublicKey, _ issuer: Certificate) -> Bool {
    unsafe X509_set_version(certificate.handle, 2) == 1  // 2 stands for version 3
      && Self.setRandomSerial(certificate)
      && subject.append(to: X509_get_subject_name(certificate.handle))
      && X509_set_issuer_name(certificate.handle, X509_get_subject_name(issuer.handle)) == 1
      && ASN1_TIME_set(X509_getm_notBefore(certificate.handle), time_t(notBefore.seconds)) != nil
      && ASN1_TIME_set(X509_getm_notAfter(certificate.handle), time_t(notAfter.seconds)) != nil
      && X509_set_pubkey(certificate.handle, publicKey.handle) == 1
  }

  private func addExtensions(to certificate: Certificate, _ issuer: Certificate) -> Bool {
    let identifiers: [CertificateExtension] = [
      .subjectKeyIdentifier(Self.keyIdentifier(certificate)),
      .authorityKeyIdentifier(Self.keyIdentifier(issuer)),
    ]
    return (extensions + identifiers).allSatisfy { Self.add($0, to: certificate) }
  }

  /// Adds an extension to a certificate that is still to be signed. False when OpenSSL refuses.
  static func add(_ part: CertificateExtension, to certificate: Certificate) -> Bool {
    var context = unsafe X509V3_CTX()
    guard
      let made = unsafe Owned(X509V3_EXT_nconf(nil, &context, part.name, part.value), X509_EXTENSION_free)
    else { return false }
    return unsafe X509_add_ext(certificate.handle, made.handle, -1) == 1
  }

  /// SHA-1 of the public key's bits (RFC 5280 4.2.1.2, method 1).
  static func keyIdentifier(_ certificate: Certificate) -> [UInt8] {
    unsafe Digests.sha1(Certificate.bytes(X509_get0_pubkey_bitstr(certificate.handle)))
  }

  static func setRandomSerial(_ certificate: Certificate) -> Bool {
    var bytes = [UInt8].random(serialByteCount)
    // Positive, and never shortened by a leading zero octet.
    bytes[0] = bytes[0] & 0x7f | 0x40
    return unsafe ASN1_STRING_set(X509_get_serialNumber(certificate.handle), bytes, Int32(serialByteCount))
      == 1
  }
}

/// A certificate subject or issuer, attribute by attribute in order.
public struct DistinguishedName {
  /// Each with its kind, `NID_…`.
  private let attributes: [(kind: Int32, text: String)]

  public init(_ attributes: (kind: Int32, text: String)...) { self.attributes = attributes }

  /// Adds the attributes to `name`, which stays the caller's. False when OpenSSL refuses.
  ///
  /// The string type is set outright: the text functions would cut common names at the 64 characters of X.520, and
  /// Apple's prefix alone has 37.
  func append(to name: OpaquePointer?) -> Bool {
    attributes.allSatisfy { attribute in
      let type = attribute.kind == NID_countryName ? V_ASN1_PRINTABLESTRING : V_ASN1_UTF8STRING
      let text = Array(attribute.text.utf8)
      return unsafe X509_NAME_add_entry_by_NID(
        name, attribute.kind, type, text, Int32(clamping: text.count), -1, 0)
        == 1
    }
  }
}
