import PushModel

extension ProviderToken {
  /// What stands for the tokens of a key where they must not appear: 32 hexadecimal digits, the same on every machine.
  public static func digest(keyId: String, teamId: String) -> String {
    let message = ["apns-emulator", teamId, keyId].joined(separator: "\0")
    return Hex.encode(Digests.sha256(Array(message.utf8)).prefix(16))
  }
}
