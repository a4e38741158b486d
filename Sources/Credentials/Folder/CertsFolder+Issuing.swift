import COpenSSL
import Platform
import PushModel

extension CertsFolder {
  /// Team id in certificates when none is given; ten characters, as Apple's have
  /// (`Documentation/provider-api.md#subject`).
  public static let defaultTeam = "EMULATOR01"

  /// Files of a push certificate.
  public struct IssuedPushCertificate: Equatable, Sendable {
    public var certificate: String
    public var key: String
    /// With an empty password.
    public var pkcs12: String
  }

  /// Files of a device identity.
  public struct IssuedDeviceCertificate: Equatable, Sendable {
    public var certificate: String
    public var key: String
  }

  /// Writes a push certificate for `topics` as PEM, key and PKCS#12, named after the first topic. One already there is
  /// replaced: whoever asks again wants other topics or environments. `isSingle` issues one without a list of topics, for
  /// the only one in `topics`: with it `apns-topic` may be left out (`Documentation/provider-api.md#topics-extension`).
  @discardableResult
  public func issuePushCertificate(
    topics: [Topic], environments: EnvironmentSet, isSingle: Bool = false, team: String = defaultTeam,
    now: Timestamp
  ) throws(CredentialsError) -> IssuedPushCertificate {
    let root = try loadedRoot(now: now)
    let pair = try KeyPair.push(
      topics: topics, environments: environments, isSingle: isSingle, team: team, by: root, now: now)
    let name = topics.first?.name ?? ""
    let base = pushFolder + "/" + name
    let bundle = try PKCS12.encode(pair.certificate, key: pair.key, name: name)
    try pair.write(to: .init(certificate: base + ".pem", key: base + ".key"))
    try FileSystem.write(bundle, to: base + ".p12", permissions: FileSystem.secretFile)
    return IssuedPushCertificate(certificate: base + ".pem", key: base + ".key", pkcs12: base + ".p12")
  }

  /// Writes a device identity without going through activation. One already there is replaced.
  @discardableResult
  public func issueDeviceCertificate(
    udid: UDID, now: Timestamp
  ) throws(CredentialsError) -> IssuedDeviceCertificate {
    let authority = try loadedDeviceAuthority(now: now)
    let key = try PrivateKey.generateRSA()
    let certificate = try KeyPair.deviceCertificate(
      udid: udid, publicKey: PublicKey(of: key), by: authority, now: now)
    let base = devicesFolder + "/" + udid.text
    try KeyPair(certificate: certificate, key: key).write(
      to: .init(certificate: base + ".pem", key: base + ".key"))
    return IssuedDeviceCertificate(certificate: base + ".pem", key: base + ".key")
  }

  /// Activation: the PEM certificate for the key of a certificate request. The subject is the UDID whatever the request
  /// says. Nothing is written.
  public func signDeviceRequest(
    csrPEM: [UInt8], udid: UDID, now: Timestamp
  ) throws(CredentialsError) -> [UInt8] {
    let authority = try loadedDeviceAuthority(now: now)
    guard let request = CertificateRequest(pem: csrPEM) else {
      throw CredentialsError(.malformed, "the device's certificate request is not a PEM request")
    }
    guard let key = request.publicKey, DeviceKeyPolicy.accepts(key) else {
      throw CredentialsError(.unsuitable, "the certificate request is not for \(DeviceKeyPolicy.sentence)")
    }
    guard request.isSigned(with: key) else {
      throw CredentialsError(.mismatched, "the certificate request is not signed with the key it is for")
    }
    return try KeyPair.deviceCertificate(udid: udid, publicKey: key, by: authority, now: now).pem()
  }
}
