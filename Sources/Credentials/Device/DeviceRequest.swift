import COpenSSL
import PushModel

/// What a device brings to its activation: a new key, and the request to certify it.
public struct DeviceRequest {
  /// PKCS#10 in PEM, the value of `DeviceCertRequest` (`Documentation/device-protocol.md#activation`).
  public let csrPEM: [UInt8]
  /// The private key in PEM, unencrypted. Stays with the device.
  public let keyPEM: [UInt8]

  /// Makes an RSA key and the request for it.
  public static func make(udid: UDID) throws(CredentialsError) -> DeviceRequest {
    let key = try PrivateKey.generateRSA()
    let request = try CertificateRequest(subject: DistinguishedName((NID_commonName, udid.text)), key: key)
    return DeviceRequest(csrPEM: try request.pem(), keyPEM: try key.pem())
  }
}
