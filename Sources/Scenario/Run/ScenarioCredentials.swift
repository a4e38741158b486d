import Basics
import Credentials
import Emulator
import Platform
import PushModel

/// What the scenarios of a run share: one CA, and keys that all of their phones and providers use, as making keys takes
/// longer than all else.
package final class ScenarioCredentials {
  private let folder: TemporaryFolder
  private var certificates: [Topic: CertsFolder.IssuedPushCertificate] = [:]
  private var key: CertsFolder.IssuedTokenKey?
  private var request: DeviceRequest?
  private static let team = "EXAMPLE123"

  package init() throws { folder = try TemporaryFolder() }

  deinit { folder.remove() }

  var certs: String { folder.path + "/certs" }

  /// A certificate for one topic.
  func certificate(_ topic: Topic, of emulator: Emulator) throws -> CertsFolder.IssuedPushCertificate {
    if let known = certificates[topic] { return known }
    let issued = try emulator.certs.issuePushCertificate(
      topics: [topic], environments: .both, now: Self.wallClockTime)
    certificates[topic] = issued
    return issued
  }

  /// A provider token, as of now on the emulator's clock.
  func bearer(of emulator: Emulator) throws -> String {
    let issued = try key ?? emulator.certs.issueTokenKey(team: Self.team, now: Self.wallClockTime)
    key = issued
    let signer = try ProviderTokenSigner(p8Path: issued.key, keyId: issued.keyId, teamId: Self.team)
    return try signer.token(at: emulator.clock.now())
  }

  /// A certificate for a phone; the key is every phone's.
  func identity(of udid: UDID, by emulator: Emulator) throws -> DeviceIdentity {
    let request = try self.request ?? DeviceRequest.make(udid: udid)
    self.request = request
    let certificate = try emulator.certs.signDeviceRequest(
      csrPEM: request.csrPEM, udid: udid, now: Self.wallClockTime)
    return try DeviceIdentity(certificatePEM: certificate, keyPEM: request.keyPEM)
  }

  /// Certificates are valid by the wall clock: TLS looks at that, and phones live in its time.
  private static var wallClockTime: Timestamp { Timestamp(nanoseconds: SystemClock.wallNanoseconds()) }
}
