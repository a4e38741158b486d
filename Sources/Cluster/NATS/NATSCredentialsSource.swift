import Credentials
import NATSWire
import Platform
import PushModel

/// Who we are by a credentials file of NATS, whose key signs what a server makes up for us.
///
/// The file is read again for each connection, as secrets that expire are replaced in their place.
public final class NATSCredentialsSource {
  private static let fileLimit = 64 << 10

  private let path: String
  private var file: NATSCredentialsFile
  private var key: PrivateKey

  /// Reads it; throws a sentence if it is none.
  public init(path: String) throws {
    self.path = path
    (file, key) = try Self.read(path)
  }

  private static func read(_ path: String) throws -> (NATSCredentialsFile, PrivateKey) {
    let text = String(decoding: try TextFile.readPlain(path, limit: fileLimit), as: UTF8.self)
    do {
      let file = try NATSCredentialsFile(text: text)
      guard let key = PrivateKey(ed25519Seed: file.seed) else { throw TLSUse.refused }
      return (file, key)
    } catch { throw SocketError(operation: "use", address: path, sentence: "\(error)") }
  }

  private enum TLSUse: Error, CustomStringConvertible {
    case refused
    var description: String { "OpenSSL does not take its key" }
  }

  /// What to show a server that has made up `nonce`. A file that has become unreadable stands as it was.
  func answer(to nonce: String) -> NATSCredentials? {
    if let (file, key) = try? Self.read(path) { (self.file, self.key) = (file, key) }
    guard let publicKey = key.ed25519PublicKey,
      let signature = try? key.signature(over: Array(nonce.utf8), hash: nil)
    else { return nil }
    return file.credentials(publicKey: publicKey, signature: signature)
  }
}
