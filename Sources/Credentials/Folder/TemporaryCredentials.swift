import Basics
import Platform
import PushModel

/// Certificates and keys of emulators that run one after the other or side by side: one CA, and keys that all of their phones and providers
/// use, as making keys takes longer than all else. Their folder goes with the object that has made it.
public final class TemporaryCredentials {
  public static let team = "EXAMPLE123"

  /// Holds all of them.
  public let path: String
  /// Nil for a folder that is another's.
  private let own: TemporaryFolder?
  private var key: CertsFolder.IssuedTokenKey?
  /// The request of a phone, whose key all use.
  private var request: DeviceRequest?
  /// Of phones that were there before.
  private var identities: [UDID: DeviceIdentity] = [:]

  /// In `parent`; without one, where this user has temporary files.
  public init(in parent: String? = nil) throws {
    let folder = try TemporaryFolder(in: parent)
    (own, path) = (folder, folder.path)
  }

  /// Those in `path`, of another process that keeps the folder as long as this one runs. What is missing there is made.
  public init(sharing path: String) { (own, self.path) = (nil, path) }

  deinit { own?.remove() }

  /// For `ServeOptions`.
  public var certs: String { path + "/certs" }

  /// Of the key of all phones, in PEM.
  private var phoneKey: String { path + "/phone.key" }

  /// A certificate for one topic.
  public func certificate(
    _ topic: Topic, in folder: CertsFolder
  ) throws -> CertsFolder.IssuedPushCertificate {
    try folder.pushCertificate(of: topic)
      ?? folder.issuePushCertificate(topics: [topic], environments: .both, now: Self.wallClockTime)
  }

  /// A token key of the team.
  public func tokenKey(in folder: CertsFolder) throws -> CertsFolder.IssuedTokenKey {
    let issued =
      try key ?? folder.tokenKeys().first { $0.teamId == Self.team }.map { folder.tokenKey($0.keyId) }
      ?? folder.issueTokenKey(team: Self.team, now: Self.wallClockTime)
    key = issued
    return issued
  }

  /// A provider token that was made at this time.
  public func bearer(in folder: CertsFolder, at now: Timestamp) throws -> String {
    let issued = try tokenKey(in: folder)
    return try ProviderTokenSigner(p8Path: issued.key, keyId: issued.keyId, teamId: Self.team).token(at: now)
  }

  /// A certificate for a phone; the key is every phone's.
  public func identity(of udid: UDID, in folder: CertsFolder) throws -> DeviceIdentity {
    if let known = identities[udid] { return known }
    let request = try sharedRequest(udid)
    let certificate = try folder.signDeviceRequest(
      csrPEM: request.csrPEM, udid: udid, now: Self.wallClockTime)
    let identity =
      try identities.first.map {
        try DeviceIdentity(certificatePEM: certificate, keyOf: $0.value)
      } ?? DeviceIdentity(certificatePEM: certificate, keyPEM: request.keyPEM)
    identities[udid] = identity
    return identity
  }

  private func sharedRequest(_ udid: UDID) throws -> DeviceRequest {
    if let request { return request }
    let isThere = PathCalls.exists(phoneKey)
    let request = try DeviceRequest.make(udid: udid, keyPEM: isThere ? FileSystem.read(phoneKey) : nil)
    if !isThere { try FileSystem.write(request.keyPEM, to: phoneKey, permissions: FileSystem.secretFile) }
    self.request = request
    return request
  }

  /// Forgets the certificates of phones that won't come again, but for one: whose key the others use.
  public func forgetIdentities() { identities = identities.filter { $0.key == identities.first?.key } }

  /// Certificates are valid by the wall clock: TLS looks at that, and phones live in its time.
  private static var wallClockTime: Timestamp { Timestamp(nanoseconds: SystemClock.wallNanoseconds()) }
}
