/// The commands of the device protocol (`Documentation/device-protocol.md#commands`).
///
/// Bytes that are not listed here are read by their length and skipped. Items stand in the `form` of each; ids from 0xe0 are private
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
public enum CourierCommand: UInt8, Sendable, CaseIterable {
  /// Device: who I am, with certificate and signed nonce.
  case connect = 0x07
  /// Server: answer to connect.
  case connected = 0x08
  /// Device: the topics it wants, replacing what it said before.
  case filter = 0x09
  /// Either: a notification.
  case message = 0x0a
  /// Either: receipt of a notification.
  case acknowledgement = 0x0b
  /// Device: are you there?
  case keepAlive = 0x0c
  /// Server: yes.
  case keepAliveAnswer = 0x0d
  /// Server: nothing (more) is stored for this token.
  case noStorage = 0x0e
  /// Server: padding probe. Never sent here.
  case flush = 0x0f
  /// Device: answer to the padding probe.
  case flushAnswer = 0x10
  /// Device: a token for one topic, please.
  case appTokenRequest = 0x11
  /// Server: that token.
  case appTokenResponse = 0x12
  /// Device: accepted and ignored.
  case setActiveInterval = 0x13
  /// Device: whether it is in use.
  case setState = 0x14
  /// Either: channel subscription and its confirmation.
  case channels = 0x1d
  /// Server, private to this emulator: something happened to an app on the simulated phone. Only sent to a client
  /// whose connect carried `ConnectRequest.simulatedDevice`; any other client would skip it.
  case appState = 0x70
  /// Server, private: what a person does to the simulated phone, or the emulator's clock. Only sent to a client whose
  /// connect says that it has a phone.
  case phoneOrder = 0x71
  /// Device, private: what has happened on the simulated phone, and how it is now. From a client without one it is
  /// skipped.
  case phoneReport = 0x72
}
