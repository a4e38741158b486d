import Platform
import PushModel

/// The folder of key material (`certs/README.md`): made on first start, loaded ever after.
public final class CertsFolder {
  /// As given; everything below is this and a name.
  public let path: String

  private var root: KeyPair?
  private var deviceAuthority: KeyPair?

  /// Touches nothing on disk.
  public init(path: String) {
    self.path = path
  }

  public var caCertificate: String { path + "/ca.pem" }
  public var caKey: String { path + "/ca.key" }
  public var serverCertificate: String { path + "/server.pem" }
  public var serverKey: String { path + "/server.key" }
  public var deviceCACertificate: String { path + "/device-ca.pem" }
  public var deviceCAKey: String { path + "/device-ca.key" }
  /// Push certificates: `<topic>.pem`, `.key`, `.p12`.
  public var pushFolder: String { path + "/push" }
  /// Token keys: `AuthKey_<KEY>.p8`, `<KEY>.json`.
  public var keysFolder: String { path + "/keys" }
  /// Device identities: `<udid>.pem`, `.key`.
  public var devicesFolder: String { path + "/devices" }
  /// Certificates of other authorities whose clients are accepted.
  public var trustFolder: String { path + "/trust" }

  /// Makes what is absent and loads what is there. Never replaces anything: what can't be used is an error that names
  /// the file.
  public func prepare(now: Timestamp) throws(CredentialsError) {
    try FileSystem.makeFolder(path, permissions: FileSystem.secretFolder)
    for folder in [pushFolder, keysFolder, devicesFolder] {
      try FileSystem.makeFolder(folder, permissions: FileSystem.secretFolder)
    }
    try FileSystem.makeFolder(trustFolder, permissions: FileSystem.openFolder)
    let lock = try FolderLock(path)
    defer { lock.release() }
    let root = try pair(
      at: rootPaths, now: now, orMake: { () throws(CredentialsError) in try .root(now: now) })
    self.root = root
    deviceAuthority = try pair(
      at: deviceAuthorityPaths, now: now,
      orMake: { () throws(CredentialsError) in try .deviceAuthority(by: root, now: now) })
    _ = try pair(
      at: serverPaths, now: now, orMake: { () throws(CredentialsError) in try .server(by: root, now: now) })
  }

  private var rootPaths: KeyPair.Paths { .init(certificate: caCertificate, key: caKey) }
  private var serverPaths: KeyPair.Paths { .init(certificate: serverCertificate, key: serverKey) }
  private var deviceAuthorityPaths: KeyPair.Paths {
    .init(certificate: deviceCACertificate, key: deviceCAKey)
  }

  private func pair(
    at paths: KeyPair.Paths, now: Timestamp, orMake make: () throws(CredentialsError) -> KeyPair
  ) throws(CredentialsError) -> KeyPair {
    if let present = try KeyPair(at: paths, now: now) { return present }
    let made = try make()
    try made.write(to: paths)
    return made
  }

  /// The root, prepared on first use.
  func loadedRoot(now: Timestamp) throws(CredentialsError) -> KeyPair {
    if root == nil { try prepare(now: now) }
    guard let root else { throw CredentialsError(.unreadable, "\(caCertificate) is not loaded") }
    return root
  }

  /// The device authority, prepared on first use.
  func loadedDeviceAuthority(now: Timestamp) throws(CredentialsError) -> KeyPair {
    if deviceAuthority == nil { try prepare(now: now) }
    guard let deviceAuthority else {
      throw CredentialsError(.unreadable, "\(deviceCACertificate) is not loaded")
    }
    return deviceAuthority
  }
}
