import COpenSSL

extension Certificate {
  /// The same certificate for another key, signed again by its issuer: names, validity and purposes stay, serial number and key
  /// identifier don't.
  func reissued(
    for publicKey: PublicKey, usage: CertificateExtension.KeyUsage, by issuerKey: PrivateKey
  ) throws(CredentialsError) -> Certificate {
    guard let copy = X509_dup(handle) else { throw OpenSSLError.take("copy a certificate") }
    let certificate = Certificate(owning: copy)
    guard CertificateTemplate.setRandomSerial(copy), X509_set_pubkey(copy, publicKey.handle) == 1,
      let identifier = CertificateTemplate.keyIdentifier(copy),
      Self.replace(NID_key_usage, of: copy, with: .keyUsage(usage)),
      Self.replace(NID_subject_key_identifier, of: copy, with: .subjectKeyIdentifier(identifier)),
      X509_sign(copy, issuerKey.handle, EVP_sha256()) > 0
    else { throw OpenSSLError.take("sign a certificate") }
    return certificate
  }

  private static func replace(_ kind: Int32, of handle: OpaquePointer, with new: CertificateExtension) -> Bool
  {
    let index = X509_get_ext_by_NID(handle, kind, -1)
    if index >= 0 { X509_EXTENSION_free(X509_delete_ext(handle, index)) }
    return CertificateTemplate.add(new, to: handle)
  }
}
