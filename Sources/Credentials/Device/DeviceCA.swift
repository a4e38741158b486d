import PushModel

/// Certifies devices, on any one thread at a time.
///
/// Unchecked: its certificate and its key are copies that nobody else has, and not changed once they are made.
public final class DeviceCA: @unchecked Sendable {
  private let pair: KeyPair

  /// With the CA of a folder, prepared on first use.
  public init(_ folder: CertsFolder, now: Timestamp) throws(CredentialsError) {
    let loaded = try folder.loadedDeviceCA(now: now)
    guard let certificate = Certificate(der: loaded.certificate.der),
      let key = PrivateKey(pem: try loaded.key.pem())
    else { throw CredentialsError(.cryptography, "\(folder.deviceCACertificate) can't be copied") }
    pair = KeyPair(certificate: certificate, key: key)
  }

  /// Activation: the PEM certificate for the key of a certificate request. The subject is the UDID whatever the request
  /// says.
  public func sign(csrPEM: [UInt8], udid: UDID, now: Timestamp) throws(CredentialsError) -> [UInt8] {
    guard let request = CertificateRequest(pem: csrPEM) else {
      throw CredentialsError(.malformed, "the device's certificate request is not a PEM request")
    }
    guard let key = request.publicKey, DeviceKeyPolicy.accepts(key) else {
      throw CredentialsError(.unsuitable, "the certificate request is not for \(DeviceKeyPolicy.sentence)")
    }
    guard request.isSigned(with: key) else {
      throw CredentialsError(.mismatched, "the certificate request is not signed with the key it is for")
    }
    return try KeyPair.deviceCertificate(udid: udid, publicKey: key, by: pair, now: now).pem()
  }
}
