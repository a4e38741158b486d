import Basics
import Broker
import Credentials
import Emulator
import Platform
import PushModel
import Services
import Storage

/// A folder for one benchmark run: certificates, a push certificate, and a store with registered tokens.
final class BenchmarkSite {
  static let topic = "com.example.bench"
  static let seed = "benchmark"
  /// Rows committed at once while the store is filled.
  private static let batch = 20_000

  /// 66 bytes, so that a frame with all five items has about 140.
  static let payload = Array(#"{"aps":{"alert":"A benchmark's message has this many characters"}}"#.utf8)
  /// Tokens that get the pushes of a load, in turn.
  static let tokens = 1000
  /// Device connections that these are delivered over.
  static let connections = 100

  private let temporary: TemporaryFolder
  let certs: CertsFolder
  let credentials: CertsFolder.IssuedPushCertificate
  let topic: Topic
  let topicHash: TopicHash
  private let signer: ProviderTokenSigner
  private let deviceRequest: DeviceRequest
  private var deviceCertificates: [[UInt8]] = []

  init() throws {
    temporary = try TemporaryFolder()
    certs = CertsFolder(path: temporary.path + "/certs")
    guard let topic = Topic(Self.topic), let first = DeviceFleet.udid(0) else {
      throw EmulatorError(.failed, "the topic or the UDID is malformed")
    }
    self.topic = topic
    topicHash = try IdentityDerivation(secret: TokenSecret(seed: Self.seed)).topicHash(topic)
    let now = Timestamp(nanoseconds: SystemClock.wallNanoseconds())
    try certs.prepare(now: now)
    credentials = try certs.issuePushCertificate(topics: [topic], environments: .both, now: now)
    let key = try certs.issueTokenKey(team: Self.team, now: now)
    deviceRequest = try DeviceRequest.make(udid: first)
    signer = try ProviderTokenSigner(p8Path: key.key, keyId: key.keyId, teamId: Self.team)
  }

  deinit { temporary.remove() }

  var folder: String { temporary.path }

  /// Fills a store with `count` devices that have the app; the tokens for a load are spread over all.
  func makeStore(registered count: Int, _ progress: (String) -> Void) throws -> TokenStore {
    progress("filling a store with \(count) tokens")
    let data = "\(folder)/data-\(count)"
    let derivation = try IdentityDerivation(secret: TokenSecret(seed: Self.seed))
    let broker = Broker(derivation: derivation)
    let store = try SQLiteStore(path: DataFolder.storePath(in: data))
    let now = Timestamp(nanoseconds: SystemClock.wallNanoseconds())
    guard let topic = broker.registry.topic(named: topic) else {
      throw EmulatorError(.failed, "the topic is not known")
    }
    var tokens: [DeviceToken] = []
    for index in 0..<count {
      guard let udid = DeviceFleet.udid(index), let device = broker.registry.device(udid, now: now),
        let token = broker.apps.change(
          .install, device: device, topic: topic, environment: .sandbox, now: now)
      else { continue }
      if index % max(1, count / Self.tokens) == 0 { tokens.append(token) }
      if index % Self.batch == 0 { try store.commit(broker.turn.takeChanges(), of: broker) }
    }
    try store.commit(broker.turn.takeChanges(), of: broker)
    return TokenStore(data: data, registered: count, tokens: Array(tokens.prefix(Self.tokens)))
  }

  /// A provider token, good for the hour that begins now.
  func bearer() throws -> String {
    try signer.token(at: Timestamp(nanoseconds: SystemClock.wallNanoseconds()))
  }

  /// Devices that connect to a server, each connection with so many identities: those that the tokens of a load belong to, unless
  /// told otherwise.
  func plan(
    _ server: ServerProcess, connections: Int = BenchmarkSite.connections,
    identities: Int = BenchmarkSite.tokens / BenchmarkSite.connections, from first: Int = 0
  ) throws -> DeviceFleet.Plan {
    let end = first + connections * identities
    try issueDevices(end)
    return DeviceFleet.Plan(
      courier: try server.address("courier"), ca: certs.ca.certificate,
      certificates: Array(deviceCertificates[first..<end]), key: deviceRequest.keyPEM,
      identitiesPerConnection: identities, topic: topicHash)
  }

  /// Certificates of the first so many devices, all for one key: making a key takes longer than everything else here. They are
  /// made once for all fleets.
  private func issueDevices(_ count: Int) throws {
    let now = Timestamp(nanoseconds: SystemClock.wallNanoseconds())
    for udid in (deviceCertificates.count..<max(count, deviceCertificates.count)).compactMap(DeviceFleet.udid)
    {
      deviceCertificates.append(
        try certs.signDeviceRequest(csrPEM: deviceRequest.csrPEM, udid: udid, now: now))
    }
  }

  private static let team = "BENCHTEAM1"

  /// The UDID of the device that is none of the fleet's.
  static let deviceName = "bench-latency"

  /// A device that is none of the fleet's.
  func makeDevice() throws -> DeviceIdentity {
    guard let udid = UDID(Self.deviceName) else { throw EmulatorError(.failed, "the UDID is malformed") }
    let now = Timestamp(nanoseconds: SystemClock.wallNanoseconds())
    let issued = try certs.issueDeviceCertificate(udid: udid, now: now)
    return try DeviceIdentity.load(pem: issued.certificate, key: issued.key)
  }
}

/// A store with registered tokens.
struct TokenStore {
  /// The emulator's data folder.
  let data: String
  let registered: Int
  /// Those that a load is for.
  let tokens: [DeviceToken]
}
