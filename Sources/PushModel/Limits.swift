/// Limits of the protocols, each with its unit and source.
public enum Limits {
  /// Payload on the binary protocol since mid-2014, in bytes (`Documentation/binary-protocol.md#limits`).
  public static let legacyPayload = 2048
  /// Payload over HTTP/2, in bytes (`Documentation/provider-api.md#request`).
  public static let providerPayload = 4096
  /// Payload of a VoIP push over HTTP/2, in bytes (`Documentation/provider-api.md#request`).
  public static let voipPayload = 5120
  /// Payload of a broadcast, in bytes (`Documentation/provider-api.md#broadcast`).
  public static let broadcastPayload = 5120
  /// `apns-collapse-id`, in bytes (`Documentation/provider-api.md#request`).
  public static let collapseId = 64
  /// Longest device token a provider may present, in bytes (`Documentation/binary-protocol.md#limits`).
  public static let longestToken = 100
  /// How long a message without an expiration is kept, in seconds: 30 days
  /// (`Documentation/provider-api.md#storage-and-delivery`, `Documentation/provider-api.md#open-questions`).
  public static let defaultStorageSeconds: Int64 = 30 * 86400
}
