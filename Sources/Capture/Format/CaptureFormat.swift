import PushModel

/// The capture file: JSON lines, a header first. Every line is one object; what `key` a line has says what it is.
///
///     {"format":"apns-emulator-capture","version":2,"software":"0.1.0","startedAt":"2026-01-02T03:04:05.678Z"}
///     {"ns":0,"connection":1,"interface":"gateway","environment":"sandbox","topic":"com.example.app"}
///     {"ns":5,"connection":1,"frame":"<base64>"}                                        accepted, which is silence
///     {"ns":7,"connection":1,"count":812,"frames":"<base64>"}                           as many, one behind the other
///     {"ns":9,"connection":1,"frame":"<base64>","outcome":{"status":8,"identifier":42,"reason":"BadDeviceToken"}}
///     {"ns":9,"connection":1,"closed":true}
///     {"ns":12,"connection":2,"request":{"method":"POST","path":"/3/device/…","headers":[["apns-topic","…"]],
///      "body":"<base64>"},"outcome":{"status":200,"apnsId":"…"}}
///     {"ns":20,"lost":17}                                                               what a full disk swallowed
///
/// `ns` counts nanoseconds of a clock that never jumps since `startedAt`, which is real time whatever the emulator's
/// clock says. A file that is appended to by a later run gets another header; one that follows after rotation has a
/// header with the same `startedAt`, and the connections that are open once more. Readers skip keys they don't know.
///
/// Frames that were accepted share a line if so many came together that nobody would look at each: every frame says
/// itself how long it is, and a capture of heavy traffic is a fifth smaller and several times cheaper to write and read.
public enum CaptureFormat {
  /// `format` of the header.
  public static let name = "apns-emulator-capture"
  /// `version` of the header; readers refuse a greater one.
  public static let version = 2
  /// So many frames that came together share a line.
  public static let sharedFrom = 16
  /// Most bytes of frames that share a line: what a torn last line may cost.
  public static let sharedLimit = 16 << 10
  /// Longest line that is read, in bytes: the longest frame in base64 (180 KB) or a full header list with every byte
  /// escaped beside a body, and as much again.
  public static let lineLimit = 512 << 10
  /// Deepest nesting of what is skipped, as a count.
  static let depthLimit = 32
  /// What `authorization` begins with instead of its secret.
  public static let digestPrefix = "digest:"
  /// What stands for an `authorization` that is no provider token.
  public static let unreadable = "unreadable"
}

/// Who a provider connection belongs to, as far as it can be said without its keys.
public struct CapturedConnection: Equatable, Sendable {
  /// Counts the connections of a run from 1; 0 is the console.
  public var number: UInt32
  public var interface: Interface
  public var environment: Environment
  /// The topic of its certificate; nil where it showed none (provider tokens) or one without a topic.
  public var topic: String?

  public init(number: UInt32, interface: Interface, environment: Environment, topic: String?) {
    (self.number, self.interface, self.environment, self.topic) = (number, interface, environment, topic)
  }
}

/// What became of a push, as its provider learnt it.
public struct CapturedOutcome: Equatable, Sendable {
  /// HTTP status, or the status byte of the error packet; 0 on the gateway means silence, which is success.
  public var status: Int
  /// Apple's word; nil if accepted, or where nobody said.
  public var reason: String?
  /// Identifier in the error packet; nil over HTTP, in silence, and where no packet came.
  public var identifier: UInt32?
  /// The gateway closed the connection without a packet (command 0; `Documentation/binary-protocol.md#error-packet`).
  public var isClosed = false
  /// `apns-id` of the answer.
  public var apnsID: APNSID?

  public init(status: Int, reason: String? = nil, identifier: UInt32? = nil, apnsID: APNSID? = nil) {
    (self.status, self.reason, self.identifier, self.apnsID) = (status, reason, identifier, apnsID)
  }

  /// Silence of the gateway.
  public static let silence = CapturedOutcome(status: 0)

  /// Whether the push was accepted.
  public var isAccepted: Bool { (status == 0 || status == 200) && !isClosed }
}
