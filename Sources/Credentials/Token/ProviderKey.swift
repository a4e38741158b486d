import Basics
import Platform

/// A token key as loaded from the keys folder.
final class ProviderKey {
  let record: ProviderKeyRecord
  let publicKey: PublicKey
  let files: StampedFiles
  /// Whether a change of its files since they were read would show.
  let isSettled: Bool

  /// Loads `AuthKey_<KEY>.p8` and the description beside it.
  init(folder: String, keyId: String) throws(CredentialsError) {
    let keyPath = "\(folder)/\(Self.filePrefix)\(keyId)\(Self.fileSuffix)"
    let recordPath = "\(folder)/\(keyId).json"
    files = StampedFiles([keyPath, recordPath])
    isSettled = files.wereOld
    guard PathCalls.exists(recordPath) else {
      throw CredentialsError(
        .mismatched, "\(keyPath) is not used: \(recordPath), which names its team, is missing")
    }
    guard let key = PrivateKey(pem: try FileSystem.read(keyPath)), key.isP256 else {
      throw CredentialsError(.malformed, "\(keyPath) is not a P-256 key in PKCS#8 PEM")
    }
    guard let record = ProviderKeyRecord(json: try FileSystem.read(recordPath)) else {
      throw CredentialsError(
        .malformed, "\(recordPath) is not {\"keyId\",\"teamId\",\"topics\",\"environments\"}")
    }
    guard record.keyId == keyId else {
      throw CredentialsError(.mismatched, "\(recordPath) is for key \(record.keyId)")
    }
    self.record = record
    publicKey = PublicKey(of: key)
  }

  /// Whether what one has verified the other has, too.
  func isSame(as other: ProviderKey) -> Bool {
    self === other || record == other.record && publicKey == other.publicKey
  }

  static let filePrefix = "AuthKey_"
  static let fileSuffix = ".p8"

  /// The key id in a file's name, or nil if it is not a key's.
  static func keyId(inFileName name: String) -> String? {
    guard name.hasPrefix(filePrefix), name.hasSuffix(fileSuffix) else { return nil }
    let id = String(name.dropFirst(filePrefix.count).dropLast(fileSuffix.count))
    return ProviderKeyRecord.isIdentifier(id) ? id : nil
  }
}
