/// Limits of one device connection, each with its unit and reason.
public enum CourierLimits {
  /// Command byte and length in front of every frame, in bytes (`Documentation/device-protocol.md#framing`).
  public static let headerByteCount = 5
  /// Id and length in front of every item, in bytes (2).
  public static let itemHeaderByteCount = 3
  /// Largest value of one item, in bytes: its length has two bytes (2).
  public static let itemByteCount = 65535
  /// Largest frame body from a peer that has not connected yet, in bytes. A certificate with a signature takes
  /// less than 4 KiB; a stranger shall not make us keep much more.
  public static let frameBeforeConnect = 16 * 1024
  /// Largest frame body once connected, in bytes: one item of full size and 1 KiB for the others.
  public static let frameAfterConnect = 64 * 1024 + 1024
  /// Largest description of a simulated phone, in bytes: some hundred notes of full length.
  public static let phoneByteCount = 256 * 1024
  /// Largest list of a simulated phone's events in one report, in bytes: 200 of a kilobyte each and more.
  public static let phoneEventsByteCount = 256 * 1024
  /// Largest frame body from a simulated device with a phone, in bytes: one report.
  public static let frameOfPhone = phoneByteCount + phoneEventsByteCount + 4 * 1024

  /// How long a peer may take to have its first identity accepted, in nanoseconds: 30 s is ample for a handset on a
  /// slow network and short for somebody who only holds the socket open.
  public static let authenticationNanoseconds: Int64 = 30 * 1_000_000_000
  /// All bytes taken before the first identity is accepted: a connect with a few small commands around it.
  public static let bytesBeforeConnect = 2 * frameBeforeConnect
  /// How long a connected device may be silent, in nanoseconds. Real ones were seen to ask after 15 to 20 minutes, and
  /// 25 is the least that works (`Documentation/device-protocol.md#keep-alive`).
  public static let idleNanoseconds: Int64 = 30 * 60 * 1_000_000_000
  /// Nothing unsolicited follows an answer to connect, app-token request or keep-alive for so long, in nanoseconds
  /// (`Documentation/device-protocol.md#quiet-after-an-answer`).
  public static let quietNanoseconds: Int64 = 20 * 1_000_000
  /// Identities of one connection, as a count. A Mac has one for itself and one for each user
  /// (`Documentation/device-protocol.md#connect`).
  public static let identitiesPerConnection = 16
  /// Most connects on one connection within `connectsNanoseconds`, as a count: each is a signature to be checked. Four for
  /// each identity; a Mac sends one when a person logs in.
  public static let connectsPerConnection = 4 * identitiesPerConnection
  /// Ten minutes.
  public static let connectsNanoseconds: Int64 = 600_000_000_000
  /// How long a client waits for the answer to connect or keep-alive, in nanoseconds
  /// (`Documentation/device-protocol.md#keep-alive`: two clients take 15 s).
  public static let answerNanoseconds: Int64 = 15 * 1_000_000_000
  /// Default time between keep-alives of a client, in nanoseconds (`Documentation/device-protocol.md#keep-alive`: most
  /// send one a minute).
  public static let keepAliveNanoseconds: Int64 = 60 * 1_000_000_000
  /// Message ids that a client remembers to tell repetitions, as a count.
  public static let rememberedMessages = 4096
}
