import Basics
import PushModel

/// How tokens come to be: HMAC-SHA256 under the emulator's secret over what a token stands for
/// (`Documentation/credentials.md#device-tokens`).
///
/// The message is a label of fixed length that says which kind of token it is, then fields of fixed length or with their
/// length before them, and the UDID last, so that no two inputs share an encoding:
///
/// ```
/// app token   "apns-emulator app 1\0"  environment u8  install i32  topic hash 20 bytes                     UDID
/// of a context "apns-emulator ctx 1\0" environment u8  install i32  topic hash 20 bytes  length u8 context  UDID
/// base token  "apns-emulator base1\0"  environment u8  identity i32                                          UDID
/// of a chosen  "apns-emulator own 1\0" token
/// ```
public final class IdentityDerivation {
  private static let appLabel = Array("apns-emulator app 1\0".utf8)
  private static let contextLabel = Array("apns-emulator ctx 1\0".utf8)
  private static let customLabel = Array("apns-emulator own 1\0".utf8)
  private static let baseLabel = Array("apns-emulator base1\0".utf8)

  private let authenticator: MessageAuthenticator

  /// Takes the secret that all tokens depend on.
  public init(secret: TokenSecret) throws(CredentialsError) {
    authenticator = try MessageAuthenticator(key: secret.bytes)
  }

  /// SHA-1 of the topic's UTF-8 (`Documentation/device-protocol.md#filter`).
  public func topicHash(_ topic: Topic) -> TopicHash { TopicHash(topic) }

  /// The token of a topic on a device, or of one context of it, for its n-th install.
  public func appToken(
    environment: Environment, udid: UDID, topicHash: TopicHash, install: Int32, context: TokenContext? = nil
  ) -> DeviceToken {
    let fields = Self.appTokenMessage(
      environment: environment, udid: udid, topicHash: topicHash, install: install, context: context)
    return token(over: fields.flatMap(\.bytes))
  }

  /// Its length is that of a name of at most `TokenContext.maximumNameByteCount` and a word.
  private static func field(_ context: TokenContext) -> [UInt8] {
    let text = Array(context.text.utf8)
    return [UInt8(truncatingIfNeeded: text.count)] + text
  }

  /// What the token of a topic on a device is the code of, field by field, for people who want to follow it.
  public static func appTokenMessage(
    environment: Environment, udid: UDID, topicHash: TopicHash, install: Int32, context: TokenContext? = nil
  ) -> [(field: String, bytes: [UInt8])] {
    [
      ("label", context == nil ? appLabel : contextLabel), ("environment", [environment.rawValue]),
      ("install", bytes(install)), ("topicHash", topicHash.bytes),
    ] + (context.map { [("context", field($0))] } ?? []) + [("udid", Array(udid.text.utf8))]
  }

  /// What the token map calls a chosen token of another length than 32 bytes.
  public func name(ofCustom token: [UInt8]) -> DeviceToken {
    self.token(over: Self.customLabel + token)
  }

  /// The token of the device itself, for its n-th identity.
  public func baseToken(environment: Environment, udid: UDID, identity: Int32) -> DeviceToken {
    token(over: Self.baseLabel + [environment.rawValue] + Self.bytes(identity) + Array(udid.text.utf8))
  }

  private static func bytes(_ number: Int32) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(bigEndian: number)
    return bytes
  }

  private func token(over message: [UInt8]) -> DeviceToken {
    guard let token = DeviceToken(bytes: authenticator.code(over: message)) else {
      preconditionFailure("a code is as long as a token")
    }
    return token
  }
}
