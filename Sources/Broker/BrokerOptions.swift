import PushModel

/// What an operator may change about delivery.
public struct BrokerOptions: Sendable {
  /// How many notifications are remembered for inspection, as a count.
  public var history = Journal.defaultCapacity
  /// How long after the device's report 410 begins, in seconds (`Documentation/provider-api.md#storage-and-delivery`,
  /// `gone_grace`).
  public var goneGraceSeconds: Int64 = 0
  /// Age at which a device token answers 410 `ExpiredToken`, in seconds; nil for never
  /// (`Documentation/provider-api.md#reasons`: Apple does not say when).
  public var tokenLifetimeSeconds: Int64?

  public init() {}
}

/// Totals since the start, for metrics.
public struct BrokerCounters: Sendable {
  public var received: UInt64 = 0
  public var accepted: UInt64 = 0
  public var rejected: UInt64 = 0
  public var stored: UInt64 = 0
  public var sent: UInt64 = 0
  public var delivered: UInt64 = 0
  public var replaced: UInt64 = 0
  public var expired: UInt64 = 0
  public var discarded: UInt64 = 0
}
