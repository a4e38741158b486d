/// The item ids of commands that have no `CourierForm`, or that others ask for, too (`Documentation/device-protocol.md#commands`). Ids from 0xe0 are private
/// to this emulator: Apple's highest known id is 29, and every client and server skips what it does not know.
///
/// | private | in | value |
/// |---|---|---|
/// | 0xe0 | connect | one byte: the client is a simulated device that understands what is private here. 1: it ends at bytes; 2: it has a phone |
/// | 0xe1 | connect (repeated), app-token request | a topic's name in UTF-8; the protocol itself carries only its SHA-1 |
/// | 0xe2 | app-token request | the token that the device remembers for the topic; the answer is `statusRemoved` if that app is gone |
/// | 28, 0xe3 | message | push type as `PushType` counts them (Apple's numbers are unknown), and `apns-collapse-id` in UTF-8; each only if the provider said one |
/// | 0xe5 | app-token request | what of the topic the token is for, as `TokenContext` writes it; the answer to one that can't be read is a refusal |
/// | 0xe6 | app-token request, with 0xe5 | one byte, 1: the token is not needed any more; the answer is `statusRemoved` |
/// | 0xe4 | message | the notification's id in the emulator's history, 8 bytes; to a device with a phone |
/// | command 0x70 | server to device | 1 topic hash, 2 action, 3 topic name |
/// | command 0x71 | server to a device with a phone | 1 number of the order, 2 the order in JSON, 3 the emulator's clock in nanoseconds since 1970, 4 whether it stands still |
/// | command 0x72 | device with a phone to server | 1 number of the order that is answered, 2 a sentence that says what went wrong, 3 events in JSON, 4 the phone in JSON, 5 how many events were lost. 3 and 4 are repeated for more than an item holds |
public enum CourierItem {
  /// 0x07, `Documentation/device-protocol.md#connect`.
  public enum Connect: UInt8, Sendable {
    case baseToken = 1
    case state = 2
    case flags = 5
    case interface = 6
    case activeInterval = 7
    case carrier = 8
    case systemVersion = 9
    case systemBuild = 10
    case hardwareModel = 11
    case certificate = 12
    case nonce = 13
    case signature = 14
    case protocolVersion = 16
    case redirectCount = 17
    case dnsTime = 19
    case tlsTime = 20
    case timestamp = 22
    case simulatedDevice = 0xe0
    case topicName = 0xe1
  }

  /// 0x08, `Documentation/device-protocol.md#connected`.
  public enum Connected: UInt8, Sendable {
    case status = 1
    case serverMetadata = 2
    case baseToken = 3
    case maximumMessageSize = 4
    /// Perhaps a protocol version.
    case unknown5 = 5
    case capabilities = 6
    case largeMessageSize = 8
    case redirectReason = 9
    case serverTime = 10
  }

  /// 0x0a, `Documentation/device-protocol.md#message`. On the way up, 1 is the topic and 2 the sender's base token.
  public enum Message: UInt8, Sendable {
    case token = 1
    case topic = 2
    case payload = 3
    case messageId = 4
    case expiry = 5
    case timestamp = 6
    case storageFlags = 7
    /// Where one source has the storage flags instead.
    case storageFlagsToo = 9
    case priority = 13
    case baseToken = 15
    case tracingIdentifier = 21
    case pushType = 28
    case channel = 29
    case collapseId = 0xe3
    case notificationId = 0xe4
  }

  /// 0x0b, `Documentation/device-protocol.md#acknowledgement`.
  public enum Acknowledgement: UInt8, Sendable {
    case token = 1
    case messageId = 4
    case status = 8
  }

  /// 0x0e, `Documentation/device-protocol.md#no-storage`.
  public enum NoStorage: UInt8, Sendable {
    case baseToken = 1
  }

  /// 0x11, `Documentation/device-protocol.md#app-token`.
  public enum AppTokenRequest: UInt8, Sendable {
    case baseToken = 1
    case topic = 2
    case appId = 3
    case topicName = 0xe1
    case heldToken = 0xe2
    case context = 0xe5
    case isOver = 0xe6
  }

  /// 0x12, `Documentation/device-protocol.md#app-token`.
  public enum AppTokenResponse: UInt8, Sendable {
    case status = 1
    case appToken = 2
    case topic = 3
    case appId = 4
  }

  /// 0x1d, `Documentation/device-protocol.md#channels`: the request has 1, 2, 3, the confirmation 1, 3, 4.
  public enum Channels: UInt8, Sendable {
    case index = 1
    case update = 2
    case baseToken = 3
    case status = 4
  }

  /// 0x71, private.
  public enum PhoneOrder: UInt8, Sendable {
    case number = 1
    case order = 2
    case now = 3
    case isFrozen = 4
  }
}
