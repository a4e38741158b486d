import COpenSSL
import Platform
import PushModel

extension CertsFolder {
  /// Length of Apple's key ids, in characters (`Documentation/provider-api.md#provider-tokens`).
  static let keyIdLength = 10

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
    let keyId = if let keyId { keyId } else { try Self.randomKeyId() }
    let record = ProviderKeyRecord(keyId: keyId, teamId: team, topics: topics, environments: environments)
    guard record.isWellFormed else {
      throw CredentialsError(
        .unsuitable, "key id \(keyId) and team \(team) must be short words of letters and digits")
    }
    guard !environments.isEmpty else {
      throw CredentialsError(.unsuitable, "a token key needs an environment")
    }
    let issued = IssuedTokenKey(
      keyId: keyId, key: "\(keysFolder)/AuthKey_\(keyId).p8", description: "\(keysFolder)/\(keyId).json")
    for path in [issued.key, issued.description] where FileSystem.exists(path) {
      throw CredentialsError(.exists, "\(path) is there already; choose another key id")
    }
    // The description last: a reader takes a key for complete once both are there.
    let key = try PrivateKey.generateP256()
    try FileSystem.write(try key.pem(), to: issued.key, permissions: FileSystem.secretFile)
    try FileSystem.write(record.json, to: issued.description, permissions: FileSystem.openFile)
    return issued
  }

  private static func randomKeyId() throws(CredentialsError) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ23456789".utf8)
    var bytes = [UInt8](repeating: 0, count: keyIdLength)
    guard RAND_bytes(&bytes, Int32(keyIdLength)) == 1 else { throw OpenSSLError.take("draw a key id") }
    return String(decoding: bytes.map { alphabet[Int($0) % alphabet.count] }, as: UTF8.self)
  }
}
