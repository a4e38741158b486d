/// Limits of the protocols, each with its unit and source.
public enum Limits {
  /// Payload on the binary interface since mid-2014, in bytes (`spec/provider-protocol.md` A.4).
  public static let legacyPayload = 2048
  /// Payload over HTTP/2, in bytes (D.2).
  public static let providerPayload = 4096
  /// Payload of a VoIP push over HTTP/2, in bytes (D.2).
  public static let voipPayload = 5120
  /// Payload of a broadcast, in bytes (F.2).
  public static let broadcastPayload = 5120
  /// `apns-collapse-id`, in bytes (D.2).
  public static let collapseId = 64
  /// Longest device token a provider may present, in bytes (A.4).
  public static let longestToken = 100
  /// How long a message without an expiration is kept, in seconds: 30 days (H, K 18).
  public static let defaultStorageSeconds: Int64 = 30 * 86400
}
