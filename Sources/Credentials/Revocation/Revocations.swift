import Basics
import COpenSSL
import Platform
import PushModel

/// What can be revoked, and the name of the file that says so (`certs/README.md`).
public enum Revocable: Hashable, Sendable {
  /// A certificate, by the SHA-256 of its DER form.
  case certificate([UInt8])
  /// A provider token key, by its id.
  case key(String)

  private static let certificatePrefix = "certificate-"
  private static let keyPrefix = "key-"

  /// The certificate with these bytes.
  public init(der: [UInt8]) { self = .certificate(Digests.sha256(der)) }

  var fileName: String {
    switch self {
    case .certificate(let digest): Self.certificatePrefix + Hex.encode(digest)
    case .key(let id): Self.keyPrefix + id
    }
  }

  /// Nil for a file that is something else.
  init?(fileName: String) {
    if fileName.hasPrefix(Self.certificatePrefix) {
      let digits = fileName.dropFirst(Self.certificatePrefix.count)
      guard let digest = Hex.decode(digits), digest.count == 32, Hex.encode(digest) == digits else {
        return nil
      }
      self = .certificate(digest)
    } else {
      let id = String(fileName.dropFirst(Self.keyPrefix.count))
      guard fileName.hasPrefix(Self.keyPrefix), ProviderKeyRecord.isIdentifier(id) else { return nil }
      self = .key(id)
    }
  }

  /// Whether the parts are what they should be: they name a file.
  var isWellFormed: Bool { Revocable(fileName: fileName) == self }
}

/// Certificates and keys that their team has revoked: names of files in `revoked/`, which may come and go while we run.
///
///     let revocations = Revocations(folder)
///     revocations.pickUpChanges()  // one `stat` unless there is something new
///     if revocations.contains(Revocable(der: leaf)) { … }
public final class Revocations {
  /// Most that are revoked, as a count: after a change the folder is read on the loop (`FolderWatch`).
  public static let limit = 1000

  private var watch: FolderWatch
  private var revoked: Set<Revocable> = []
  /// Counts changes: what was judged before may be outdated.
  public private(set) var generation = 0

  public init(_ folder: CertsFolder) {
    watch = FolderWatch(folder.revokedFolder)
    pickUpChanges()
  }

  /// Reads the folder again if it may have changed: at the beginning of each turn of a loop and amid long reading
  /// (`EventLoop.atTurnBegin`), and before a chain is judged. So whoever judges what has come compares a number, `generation`. Who
  /// revokes, hears that it is done and then begins to push is refused; of what streams in meanwhile, half a millisecond and a few
  /// reads may still be taken.
  public func pickUpChanges() {
    guard watch.hasChanged else { return }
    watch.willRead()
    let present = Set(FileSystem.names(in: watch.path, suffix: "").compactMap(Revocable.init(fileName:)))
    guard present != revoked else { return }
    revoked = present
    generation += 1
  }

  /// Call it when something was revoked: the next look sees it, however much was revoked just before.
  public func expectChange() { watch.expectChange() }

  /// As of the last look into the folder.
  public func contains(_ item: Revocable) -> Bool { !revoked.isEmpty && revoked.contains(item) }

  func contains(der: [UInt8]) -> Bool { !revoked.isEmpty && revoked.contains(Revocable(der: der)) }
}

extension CertsFolder {
  /// Revokes; a running emulator refuses it from then on. `name` is for people who look into the folder. Answers the file that
  /// says so.
  @discardableResult
  public func revoke(_ item: Revocable, name: String, now: Timestamp) throws(CredentialsError) -> String {
    guard item.isWellFormed else {
      throw CredentialsError(.unsuitable, "expected a SHA-256 in hexadecimal or the id of a key")
    }
    try FileSystem.makeFolder(revokedFolder, permissions: FileSystem.openFolder)
    let path = "\(revokedFolder)/\(item.fileName)"
    guard PathCalls.exists(path) || FileSystem.names(in: revokedFolder, suffix: "").count < Revocations.limit
    else {
      throw CredentialsError(.unsuitable, "\(revokedFolder) is full, with \(Revocations.limit) files")
    }
    let note: JSONValue = ["name": .string(name), "revokedAt": .string(now.rfc3339)]
    try FileSystem.write(
      note.encoded + [UInt8(ascii: "\n")], to: path, permissions: FileSystem.openFile)
    return path
  }

  /// Takes a revocation back, as Apple never does. Answers whether there was one.
  @discardableResult
  public func restore(_ item: Revocable) throws(CredentialsError) -> Bool {
    let path = "\(revokedFolder)/\(item.fileName)"
    guard item.isWellFormed, PathCalls.exists(path) else { return false }
    guard PathCalls.remove(path) else { throw FileSystem.failure(.unwritable, path) }
    return true
  }

  /// The SHA-256 of the first certificate in a PEM text, by which it can be revoked.
  public static func digest(pem: [UInt8]) -> [UInt8] {
    Digests.sha256(Certificate.all(pem: pem).first?.der ?? [])
  }

  /// Whether it has been revoked.
  public func isRevoked(_ item: Revocable) -> Bool {
    item.isWellFormed && PathCalls.exists("\(revokedFolder)/\(item.fileName)")
  }

  /// The key with this id, if its files are in the folder.
  public func revocableKey(_ id: String) throws(CredentialsError) -> Revocable {
    guard ProviderKeyRecord.isIdentifier(id), PathCalls.exists("\(keysFolder)/AuthKey_\(id).p8") else {
      throw CredentialsError(
        .unreadable, "\(keysFolder) has no key \(id.prefix(UDID.maximumByteCount))")
    }
    return .key(id)
  }
}

/// A push certificate in a file, to be revoked: as PEM, DER or PKCS#12, with or without its key.
public struct RevocableCertificate {
  public let item: Revocable
  /// Its common name.
  public let name: String

  /// Reads it; `password` is that of a PKCS#12 file.
  public init(file: String, password: String = "") throws(CredentialsError) {
    let bytes = try FileSystem.readNamed(file)
    let bundle = try PKCS12.decode(bytes, password: password, file: file)
    let found = bundle?.certificates ?? PushIdentity.certificates(bytes)
    let key = bundle?.key ?? PrivateKey(pem: bytes)
    guard let leaf = found.first(where: { leaf in key.map { leaf.belongs(to: $0) } ?? true }) ?? found.first
    else {
      throw CredentialsError(
        .malformed, "\(file): expected a certificate in PEM, PKCS#12 or DER, got something else")
    }
    item = Revocable(der: leaf.der)
    name = leaf.subjectAttribute(NID_commonName) ?? "?"
  }
}
