import Broker
import Credentials
import Emulator
import Platform
import PushModel
import Storage

/// A folder for one benchmark run: certificates, a push certificate, and a store with registered tokens.
final class BenchmarkSite {
  static let topic = "com.example.bench"
  static let seed = "benchmark"
  /// Rows committed at once while the store is filled.
  private static let batch = 20_000

  let folder: String
  let certs: CertsFolder
  let credentials: CertsFolder.IssuedPushCertificate
  let topic: Topic

  init() throws {
    folder = try TemporaryFolder().path
    certs = CertsFolder(path: folder + "/certs")
    guard let topic = Topic(Self.topic) else { throw EmulatorError(.failed, "the topic is malformed") }
    self.topic = topic
    let now = Timestamp(nanoseconds: SystemClock.wallNanoseconds())
    try certs.prepare(now: now)
    credentials = try certs.issuePushCertificate(topics: [topic], environments: .both, now: now)
  }

  deinit { remove(folder) }

  /// Fills a store with `count` devices that have the app; answers its folder and `sample` tokens spread over all.
  func makeStore(registered count: Int, sample: Int) throws -> (data: String, tokens: [DeviceToken]) {
    let data = "\(folder)/data-\(count)"
    let derivation = try IdentityDerivation(secret: TokenSecret(seed: Self.seed))
    let broker = Broker(derivation: derivation)
    let store = try SQLiteStore(path: Emulator.storePath(in: data))
    let now = Timestamp(nanoseconds: SystemClock.wallNanoseconds())
    guard let topic = broker.registry.topic(named: topic) else { return (data, []) }
    var tokens: [DeviceToken] = []
    for index in 0..<count {
      guard let udid = DeviceFleet.udid(index), let device = broker.registry.device(udid, now: now),
        let token = broker.change(.install, device: device, topic: topic, environment: .sandbox, now: now)
      else { continue }
      if index % (count / sample) == 0 { tokens.append(token) }
      if index % Self.batch == 0 { try store.commit(broker.takeChanges(), of: broker) }
    }
    try store.commit(broker.takeChanges(), of: broker)
    return (data, Array(tokens.prefix(sample)))
  }

  /// A provider token of a fresh key.
  func makeBearer() throws -> String {
    let now = Timestamp(nanoseconds: SystemClock.wallNanoseconds())
    let key = try certs.issueTokenKey(team: Self.team, now: now)
    return try ProviderTokenSigner(p8Path: key.key, keyId: key.keyId, teamId: Self.team).token(at: now)
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

  /// Writes a file into the folder.
  func write(_ name: String, _ bytes: [UInt8]) throws {
    guard let file = fopen("\(folder)/\(name)", "w") else { throw SocketError.last("write", name) }
    defer { fclose(file) }
    guard fwrite(bytes, 1, bytes.count, file) == bytes.count else { throw SocketError.last("write", name) }
  }

  /// Removes a folder that this run made, with everything in it.
  private func remove(_ path: String) {
    guard let directory = opendir(path) else { return }
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      guard name != ".", name != ".." else { continue }
      let child = "\(path)/\(name)"
      if unlink(child) != 0 { remove(child) }
    }
    closedir(directory)
    rmdir(path)
  }
}
