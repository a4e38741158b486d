import Basics
import Platform
import PushModel

/// The folder of key material (`certs/README.md`): made on first start, loaded ever after.
public final class CertsFolder {
  /// As given; everything below is this and a name.
  public let path: String

  /// What is in it, once it was looked at.
  private struct Prepared {
    let root: KeyPair
    let deviceCA: KeyPair
    let server: ServerPairs
  }

  private var prepared: Prepared?

  /// Touches nothing on disk.
  public init(path: String) { self.path = path }

  public var ca: PairPaths { PairPaths(path + "/ca") }
  public var server: PairPaths { PairPaths(path + "/server") }
  /// The same on P-256, for clients that take it.
  public var ellipticServer: PairPaths { PairPaths(path + "/server-ec") }
  public var deviceCA: PairPaths { PairPaths(path + "/device-ca") }
  /// Push certificates: `<topic>.pem`, `.key`, `.p12`.
  public var pushFolder: String { path + "/push" }
  /// Token keys: `AuthKey_<KEY>.p8`, `<KEY>.json`.
  public var keysFolder: String { path + "/keys" }
  /// Device identities: `<udid>.pem`, `.key`.
  public var devicesFolder: String { path + "/devices" }
  /// Certificates of other CAs whose clients are accepted.
  public var trustFolder: String { path + "/trust" }
  /// What was revoked: files that say it by their names.
  public var revokedFolder: String { path + "/revoked" }

  /// Makes what is absent and loads what is there. Never replaces anything but a P-256 pair that is not of the server certificate
  /// (`ServerPairs`): what can't be used is an error that names the file. A server certificate that is made is for `serverNames` too.
  public func prepare(serverNames: [String] = [], now: Timestamp) throws(CredentialsError) {
    prepared = try load(serverNames, now)
  }

  private func load(_ serverNames: [String], _ now: Timestamp) throws(CredentialsError) -> Prepared {
    for folder in [path, pushFolder, keysFolder, devicesFolder] {
      try FileSystem.makeFolder(folder, permissions: FileSystem.secretFolder)
    }
    try FileSystem.makeFolder(trustFolder, permissions: FileSystem.openFolder)
    let lock = try FolderLock(path)
    defer { lock.release() }
    let root = try pair(at: ca, now: now) { () throws(CredentialsError) in try .root(now: now) }
    let deviceCA = try pair(at: deviceCA, now: now) { () throws(CredentialsError) in
      try .deviceCA(by: root, now: now)
    }
    let pair = try pair(at: server, now: now) { () throws(CredentialsError) in
      try .server(by: root, names: serverNames, now: now)
    }
    let server = try ServerPairs(pair, at: server, beside: ellipticServer, root: root, now: now)
    return Prepared(root: root, deviceCA: deviceCA, server: server)
  }

  private func pair(
    at paths: PairPaths, now: Timestamp, orMake make: () throws(CredentialsError) -> KeyPair
  ) throws(CredentialsError) -> KeyPair {
    if let present = try KeyPair(at: paths, now: now) { return present }
    let made = try make()
    try made.write(to: paths)
    return made
  }

  private func loaded(_ now: Timestamp) throws(CredentialsError) -> Prepared {
    if let prepared { return prepared }
    let loaded = try load([], now)
    prepared = loaded
    return loaded
  }

  /// The root, prepared on first use.
  public func loadedRoot(now: Timestamp) throws(CredentialsError) -> KeyPair { try loaded(now).root }

  /// What listeners serve, prepared on first use.
  public func loadedServer(now: Timestamp) throws(CredentialsError) -> ServerPairs { try loaded(now).server }

  /// The device CA, prepared on first use.
  public func loadedDeviceCA(now: Timestamp) throws(CredentialsError) -> KeyPair { try loaded(now).deviceCA }
}

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
    /// What could be pushed to with the certificate of this name before, if that were other topics; else empty.
    public var replacedTopics: [PushTopic]
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
    var issued = pushPaths(name)
    let bundle = try PKCS12.encode(pair.certificate, key: pair.key, name: name)
    let replaced = (try? FileSystem.read(issued.certificate)).map(Self.topics(ofPush:)) ?? []
    try pair.write(to: PairPaths(pushFolder + "/" + name))
    try FileSystem.write(bundle, to: issued.pkcs12, permissions: FileSystem.secretFile)
    if try Set(replaced) != Set(Self.topics(ofPush: pair.certificate.pem())) {
      issued.replacedTopics = replaced
    }
    return issued
  }

  private func pushPaths(_ name: String) -> IssuedPushCertificate {
    let base = pushFolder + "/" + name
    let paths = PairPaths(base)
    return IssuedPushCertificate(
      certificate: paths.certificate, key: paths.key, pkcs12: base + ".p12", replacedTopics: [])
  }

  /// The certificate that was issued for this topic first; nil if none was.
  func pushCertificate(of topic: Topic) -> IssuedPushCertificate? {
    let paths = pushPaths(topic.name)
    // The last that is written.
    return PathCalls.exists(paths.pkcs12) ? paths : nil
  }

  private static func topics(ofPush certificate: [UInt8]) -> [PushTopic] {
    PushIdentity.certificates(certificate).first.flatMap { PushCertificateClaims($0, der: $0.der) }?.topics
      ?? []
  }

  /// The same as text for somebody who does not see the folder. With a password the PKCS#12 file has it.
  public struct PushCertificateText: Equatable, Sendable {
    /// PEM.
    public var certificate: [UInt8]
    /// PEM. Secret.
    public var key: [UInt8]
    /// Secret.
    public var pkcs12: [UInt8]
  }

  /// What was issued, read back; `password` is that of the PKCS#12 file that is answered, not of the one in the folder.
  public func read(
    _ issued: IssuedPushCertificate, name: Topic, password: String
  ) throws(CredentialsError) -> PushCertificateText {
    let (pem, key) = (try FileSystem.read(issued.certificate), try FileSystem.read(issued.key))
    guard password.utf8.count <= PKCS12.longestPassword, !password.utf8.contains(0) else {
      throw CredentialsError(
        .unsuitable, "expected a password of at most \(PKCS12.longestPassword) bytes without zero bytes")
    }
    guard let certificate = Certificate.all(pem: pem).first, let privateKey = PrivateKey(pem: key) else {
      throw CredentialsError(.malformed, "\(issued.certificate) or its key differs from what was written")
    }
    let bundle = try PKCS12.encode(certificate, key: privateKey, name: name.name, password: password)
    return PushCertificateText(certificate: pem, key: key, pkcs12: bundle)
  }

  /// Signs a request for a push certificate as Apple's portal does: its key stays with whoever asked, and its subject counts
  /// for nothing. Answers PEM; nothing is written.
  public func signPushRequest(
    csrPEM: [UInt8], topics: [Topic], environments: EnvironmentSet, isSingle: Bool = false,
    team: String = defaultTeam, now: Timestamp
  ) throws(CredentialsError) -> [UInt8] {
    let root = try loadedRoot(now: now)
    let key = try CertificateRequest.key(
      of: csrPEM, that: StrangersKey.isUsable, is: StrangersKey.sentence)
    return try KeyPair.pushCertificate(
      for: key, topics: topics, environments: environments, isSingle: isSingle, team: team, by: root, now: now
    ).pem()
  }

  /// SHA-256 of the certificates of our root and our device CA, in DER.
  public func caFingerprints() throws(CredentialsError) -> (root: [UInt8], devices: [UInt8]) {
    (Self.digest(pem: try readRoot()), Self.digest(pem: try FileSystem.read(deviceCA.certificate)))
  }

  /// The certificate of our root, in PEM.
  public func readRoot() throws(CredentialsError) -> [UInt8] { try FileSystem.read(ca.certificate) }

  /// A Java trust store with our root, under the password that Java programs try.
  public func javaTrustStore(now: Timestamp) throws(CredentialsError) -> [UInt8] {
    let root = try loadedRoot(now: now)
    return JavaTrustStore.encode([("apns-emulator", root.certificate.der)], madeAt: now)
  }

  /// The key that was issued, in PEM. Secret.
  public func read(_ issued: IssuedTokenKey) throws(CredentialsError) -> [UInt8] {
    try FileSystem.read(issued.key)
  }

  /// Writes a device identity without going through activation. One already there is replaced.
  @discardableResult
  public func issueDeviceCertificate(
    udid: UDID, now: Timestamp
  ) throws(CredentialsError) -> PairPaths {
    let deviceCA = try loadedDeviceCA(now: now)
    let key = try PrivateKey.generateRSA()
    let certificate = try KeyPair.deviceCertificate(
      udid: udid, publicKey: PublicKey(of: key), by: deviceCA, now: now)
    let paths = PairPaths(devicesFolder + "/" + udid.text)
    try KeyPair(certificate: certificate, key: key).write(to: paths)
    return paths
  }

  /// Activation: the PEM certificate for the key of a certificate request. The subject is the UDID whatever the request
  /// says. Nothing is written.
  public func signDeviceRequest(
    csrPEM: [UInt8], udid: UDID, now: Timestamp
  ) throws(CredentialsError) -> [UInt8] {
    try DeviceCA(self, now: now).sign(csrPEM: csrPEM, udid: udid, now: now)
  }
}

extension CertsFolder {
  /// A push certificate that lies in the folder, by the name of its file.
  public struct ListedPushCertificate: Equatable, Sendable {
    public var topic: Topic
    /// Further topics that it lists, without those that follow from a single one
    /// (`Documentation/provider-api.md#topics-extension`).
    public var moreTopics: [Topic]
    public var environments: EnvironmentSet
    /// It lists no topics, not even those that follow from the one.
    public var isSingle: Bool
    /// Of its DER form: the name by which it can be revoked.
    public var sha256: [UInt8]
  }

  /// The names of files that may hold push certificates, which `pushCertificate(inFile:)` reads one by one.
  public func pushCertificateNames() -> [String] { FileSystem.names(in: pushFolder, suffix: ".pem") }

  /// The push certificate in a file of that name; nil if it holds none.
  public func pushCertificate(inFile name: String) -> ListedPushCertificate? {
    guard let topic = Topic(String(name.dropLast(4))),
      let pem = try? FileSystem.read(pushFolder + "/" + name),
      let leaf = Certificate.all(pem: pem).first, let parsed = PushCertificateClaims(leaf, der: leaf.der)
    else { return nil }
    let implied = Set(PushTopic.implied(by: topic))
    let names = parsed.topics.map(\.name).filter { $0 != topic }
    return ListedPushCertificate(
      topic: topic, moreTopics: implied.isSuperset(of: names) ? [] : names,
      environments: parsed.environments,
      isSingle: leaf.extensionValue(CertificateExtension.topicsIdentifier) == nil,
      sha256: Digests.sha256(leaf.der))
  }

  /// What the folder says about its token keys; the keys themselves are not read.
  public func tokenKeys() -> [ProviderKeyRecord] {
    tokenKeyNames().compactMap { tokenKey(inFile: $0) }
  }

  /// The names of files that may describe token keys, which `tokenKey(inFile:)` reads one by one.
  public func tokenKeyNames() -> [String] { FileSystem.names(in: keysFolder, suffix: ".json") }

  /// What a file of that name says of a key; nil if it says nothing.
  public func tokenKey(inFile name: String) -> ProviderKeyRecord? {
    (try? FileSystem.read(keysFolder + "/" + name)).flatMap { ProviderKeyRecord(json: $0) }
  }
}

extension CertsFolder {
  /// Length of Apple's key ids, in characters (`Documentation/provider-api.md#provider-tokens`).
  private static let keyIdLength = 10

  /// A token key as it lies in the folder.
  public struct IssuedTokenKey: Equatable, Sendable {
    public var keyId: String
    /// `AuthKey_<KEY>.p8`.
    public var key: String
    /// `<KEY>.json`.
    public var description: String
  }

  /// Makes a token key. No topics means a key for the whole team. A key already there is never replaced, since
  /// providers keep using it.
  @discardableResult
  public func issueTokenKey(
    team: String, keyId: String? = nil, topics: [Topic] = [], environments: EnvironmentSet = .both,
    now: Timestamp
  ) throws(CredentialsError) -> IssuedTokenKey {
    _ = try loadedRoot(now: now)
    let lock = try FolderLock(keysFolder)
    defer { lock.release() }
    let keyId = keyId ?? Self.randomKeyId()
    let record = ProviderKeyRecord(keyId: keyId, teamId: team, topics: topics, environments: environments)
    guard record.isWellFormed else {
      throw CredentialsError(
        .unsuitable, "key id \(keyId) and team \(team) must be short words of letters and digits")
    }
    guard !environments.isEmpty else {
      throw CredentialsError(.unsuitable, "a token key needs an environment")
    }
    let issued = tokenKey(keyId)
    for path in [issued.key, issued.description] where PathCalls.exists(path) {
      throw CredentialsError(.exists, "\(path) is there already; choose another key id")
    }
    guard !isRevoked(.key(keyId)) else {
      throw CredentialsError(.exists, "key \(keyId) was revoked; choose another key id")
    }
    // The description last: a reader takes a key for complete once both are there.
    let key = try PrivateKey.generateP256()
    try FileSystem.write(try key.pem(), to: issued.key, permissions: FileSystem.secretFile)
    try FileSystem.write(record.json, to: issued.description, permissions: FileSystem.openFile)
    return issued
  }

  /// Where a key of this id lies.
  func tokenKey(_ keyId: String) -> IssuedTokenKey {
    IssuedTokenKey(
      keyId: keyId, key: "\(keysFolder)/AuthKey_\(keyId).p8", description: "\(keysFolder)/\(keyId).json")
  }

  private static func randomKeyId() -> String {
    let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ23456789"
    return String((0..<keyIdLength).compactMap { _ in letters.randomElement() })
  }
}
