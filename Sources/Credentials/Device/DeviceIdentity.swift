import Basics
import COpenSSL
import PushModel

/// A device's certificate with its private key: what a simulated device proves itself with.
public final class DeviceIdentity {
  /// The certificate, item 12 of a connect command (`Documentation/device-protocol.md#connect`).
  public let certificateDER: [UInt8]
  /// Subject CN.
  public let name: String

  private let key: PrivateKey

  /// Takes the two PEM texts.
  public convenience init(certificatePEM: [UInt8], keyPEM: [UInt8]) throws(CredentialsError) {
    try self.init(certificatePEM: certificatePEM, key: DeviceRequest.rsaKey(keyPEM))
  }

  /// One more device with the key of `other`, which both hold then: for devices by the thousand.
  public convenience init(certificatePEM: [UInt8], keyOf other: DeviceIdentity) throws(CredentialsError) {
    try self.init(certificatePEM: certificatePEM, key: other.key)
  }

  private init(certificatePEM: [UInt8], key: PrivateKey) throws(CredentialsError) {
    guard let certificate = Certificate.all(pem: certificatePEM).first else {
      throw CredentialsError(.malformed, "the device certificate is not PEM")
    }
    guard certificate.belongs(to: key) else {
      throw CredentialsError(.mismatched, "the device key does not belong to the device certificate")
    }
    certificateDER = certificate.der
    name = certificate.subjectAttribute(NID_commonName) ?? ""
    self.key = key
  }

  /// Reads the two PEM files.
  public static func load(pem certificatePath: String, key keyPath: String) throws(CredentialsError)
    -> DeviceIdentity
  {
    try DeviceIdentity(
      certificatePEM: FileSystem.readNamed(certificatePath), keyPEM: FileSystem.readNamed(keyPath))
  }

  /// Item 14 of a connect command: the algorithm's two bytes, then the signature over the nonce alone
  /// (`Documentation/device-protocol.md#authentication`).
  public func sign(nonce: [UInt8]) throws(CredentialsError) -> [UInt8] {
    DeviceIdentityVerifier.signaturePrefix + (try key.signature(over: nonce, hash: "SHA1"))
  }
}

/// What a device brings to its activation: a new key, and the request to certify it.
public struct DeviceRequest: Sendable {
  /// PKCS#10 in PEM, the value of `DeviceCertRequest` (`Documentation/device-protocol.md#activation`).
  public let csrPEM: [UInt8]
  /// The private key in PEM, unencrypted. Stays with the device.
  public let keyPEM: [UInt8]

  /// Makes the request for an RSA key, and the key unless `keyPEM` has one.
  public static func make(udid: UDID, keyPEM: [UInt8]? = nil) throws(CredentialsError) -> DeviceRequest {
    let key: PrivateKey
    if let keyPEM { key = try rsaKey(keyPEM) } else { key = try PrivateKey.generateRSA() }
    let request = try CertificateRequest(subject: DistinguishedName((NID_commonName, udid.text)), key: key)
    return DeviceRequest(csrPEM: try request.pem(), keyPEM: try key.pem())
  }

  fileprivate static func rsaKey(_ pem: [UInt8]) throws(CredentialsError) -> PrivateKey {
    guard let key = PrivateKey(pem: pem), key.isRSA else {
      throw CredentialsError(.malformed, "the device key is not an unencrypted RSA key in PEM")
    }
    return key
  }
}

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
    else { throw CredentialsError(.cryptography, "\(folder.deviceCA.certificate) can't be copied") }
    pair = KeyPair(certificate: certificate, key: key)
  }

  /// Activation: the PEM certificate for the key of a certificate request. The subject is the UDID whatever the request
  /// says.
  public func sign(csrPEM: [UInt8], udid: UDID, now: Timestamp) throws(CredentialsError) -> [UInt8] {
    let key = try CertificateRequest.key(
      of: csrPEM, that: DeviceKeyPolicy.accepts, is: DeviceKeyPolicy.sentence)
    return try KeyPair.deviceCertificate(udid: udid, publicKey: key, by: pair, now: now).pem()
  }
}
