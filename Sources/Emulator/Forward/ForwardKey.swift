import Credentials
import Platform
import PushModel

/// The token key that a bridge signs with: the file, and whose it is.
enum ForwardKey {
  /// Reads the key; what the options leave open is taken from the names and files of a keys folder
  /// (`certs/README.md`).
  static func signer(_ options: ForwardOptions) throws -> ProviderTokenSigner {
    let file = options.key.split(separator: "/").last.map(String.init) ?? options.key
    let isNamed = file.hasPrefix("AuthKey_") && file.hasSuffix(".p8")
    guard let keyId = options.keyId ?? (isNamed ? String(file.dropFirst(8).dropLast(3)) : nil) else {
      throw EmulatorError(
        .failed, "--forward: --key-id is missing, and \(file) is not named AuthKey_<KEY>.p8")
    }
    let folder = options.key.dropLast(file.count)
    let record = (try? TextFile.read("\(folder)\(keyId).json")).flatMap { JSONReader.read($0) }
    guard let team = options.team ?? record?.string("teamId") else {
      throw EmulatorError(
        .failed, "--forward: --team is missing, and there is no \(keyId).json beside the key")
    }
    do {
      return try ProviderTokenSigner(p8Path: options.key, keyId: keyId, teamId: team)
    } catch {
      throw EmulatorError(.failed, "--forward can't use the key \(options.key): \(error)")
    }
  }
}
