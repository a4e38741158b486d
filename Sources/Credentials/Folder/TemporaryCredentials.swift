import Basics
import Platform
import PushModel

/// Certificates and keys of emulators that run one after the other: one CA, and keys that all of their phones and providers use, as making
/// keys takes longer than all else. Their folder goes with this object.
public final class TemporaryCredentials {
  public static let team = "EXAMPLE123"

  private let folder: TemporaryFolder
  private var certificates: [Topic: CertsFolder.IssuedPushCertificate] = [:]
  private var key: CertsFolder.IssuedTokenKey?
  private var request: DeviceRequest?
  /// Of phones that were there before, whose key the others use.
  private var identities: [UDID: DeviceIdentity] = [:]

  /// In `parent`; without one, where this user has temporary files.
  public init(in parent: String? = nil) throws { folder = try TemporaryFolder(in: parent) }

  deinit { folder.remove() }

  /// For `ServeOptions`.
  public var certs: String { folder.path + "/certs" }

  /// A certificate for one topic.
  public func certificate(
    _ topic: Topic, in folder: CertsFolder
  ) throws -> CertsFolder.IssuedPushCertificate {
    if let known = certificates[topic] { return known }
    let issued = try folder.issuePushCertificate(
      topics: [topic], environments: .both, now: Self.wallClockTime)
    certificates[topic] = issued
    return issued
  }

  /// A token key of the team.
  public func tokenKey(in folder: CertsFolder) throws -> CertsFolder.IssuedTokenKey {
    let issued = try key ?? folder.issueTokenKey(team: Self.team, now: Self.wallClockTime)
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
    let request = try self.request ?? DeviceRequest.make(udid: udid)
    self.request = request
    let certificate = try folder.signDeviceRequest(
      csrPEM: request.csrPEM, udid: udid, now: Self.wallClockTime)
    let identity =
      try identities.first.map {
        try DeviceIdentity(certificatePEM: certificate, keyOf: $0.value)
      } ?? DeviceIdentity(certificatePEM: certificate, keyPEM: request.keyPEM)
    identities[udid] = identity
    return identity
  }

  /// Forgets the certificates of phones that won't come again, but for one: whose key the others use.
  public func forgetIdentities() { identities = identities.filter { $0.key == identities.first?.key } }

  /// Certificates are valid by the wall clock: TLS looks at that, and phones live in its time.
  private static var wallClockTime: Timestamp { Timestamp(nanoseconds: SystemClock.wallNanoseconds()) }
}
