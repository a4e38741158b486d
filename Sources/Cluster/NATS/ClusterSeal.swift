import Basics
import Credentials
import Platform

/// What `--cluster-secret` is for: codes (HMAC-SHA256) on all that nodes write into NATS or say there, so that nothing counts
/// that somebody else has put there.
///
///     0 | "AS1" | code, 32 bytes | contents
///
/// A code is over the place as well: a record of one stream, or of one sequence, is none of another.
package final class ClusterSeal {
  /// Where something sealed lies.
  package struct Place {
    /// Of the stream, or the subject where there is none.
    package var name: String
    /// When the stream was made, in the NATS server's words.
    package var created: String
    /// The sequence, where there is one.
    package var sequence: UInt64 = 0

    package init(name: String, created: String, sequence: UInt64 = 0) {
      (self.name, self.created, self.sequence) = (name, created, sequence)
    }
  }

  /// What sealing adds, in bytes.
  package static let byteCount = mark.count + MessageAuthenticator.byteCount
  /// Nothing that a node writes without a seal begins with a zero.
  private static let mark: [UInt8] = [0, 0x41, 0x53, 0x31]
  /// A shorter secret could be found by trying, in bytes.
  static let secretLeast = 16
  /// Most that is read of a secret's file, in bytes.
  private static let fileLimit = 4096

  private let authenticator: MessageAuthenticator

  package init(secret: [UInt8]) throws { authenticator = try MessageAuthenticator(key: secret) }

  /// Reads the secret: all of the file but blanks and ends of lines behind it. Throws a sentence if it is none, or others may read it.
  package convenience init(path: String) throws {
    let bytes = try TextFile.readPlain(path, limit: Self.fileLimit, isSecret: true)
    let end = bytes.lastIndex { ![0x09, 0x0a, 0x0d, 0x20].contains($0) } ?? -1
    guard end + 1 >= Self.secretLeast else {
      throw SocketError(
        operation: "use", address: path,
        sentence:
          "expected a secret of at least \(Self.secretLeast) bytes, got \(end + 1): openssl rand -hex 32 makes one"
      )
    }
    try self.init(secret: Array(bytes[...end]))
  }

  /// Whether it has the form of something sealed, by whatever secret.
  package static func isSealed(_ bytes: [UInt8]) -> Bool {
    bytes.count >= byteCount && bytes.starts(with: mark)
  }

  package func sealed(_ contents: [UInt8], at place: Place) -> [UInt8] {
    Self.mark + authenticator.code(over: Self.message(.record, place, contents[...])) + contents
  }

  /// The contents; nil for what was not sealed for this place, by who knows the secret.
  package func opened(_ bytes: [UInt8], at place: Place) -> [UInt8]? {
    guard Self.isSealed(bytes) else { return nil }
    let contents = bytes[Self.byteCount...]
    let code = Array(bytes[Self.mark.count..<Self.byteCount])
    guard authenticator.verifies(code, over: Self.message(.record, place, contents)) else { return nil }
    return Array(contents)
  }

  /// What a cluster's own secret is in place of one that NATS knows: by what is for that cluster alone.
  package func secret(salt: [UInt8]) -> [UInt8] {
    authenticator.code(over: Self.message(.secret, Place(name: "", created: ""), salt[...]))
  }

  private enum Purpose: UInt8 { case record = 1, secret }

  /// All but the last part have their lengths before them, so that no two are the same.
  private static func message(_ purpose: Purpose, _ place: Place, _ contents: ArraySlice<UInt8>) -> [UInt8] {
    var out = StateWriter(capacity: contents.count + 256)
    out.bytes += Array("apns-emulator cluster 1\0".utf8)
    out.write(purpose.rawValue)
    for text in [place.name, place.created] {
      out.write(UInt64(text.utf8.count))
      out.bytes += text.utf8
    }
    out.write(place.sequence)
    out.bytes += contents
    return out.bytes
  }
}
