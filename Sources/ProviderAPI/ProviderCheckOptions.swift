import PushModel

/// Where Apple's behaviour is disputed or a user may want it otherwise.
public struct ProviderCheckOptions: Sendable {
  /// Accept what can't be verified, and note what strict would have answered
  /// (`Documentation/commands.md#flags-of-serve`).
  public var isLenient = false
  /// `background` with an explicit priority of 10 is `BadPriority` (`Documentation/provider-api.md#what-apns-looks-at`,
  /// `#open-questions`).
  public var refusesUrgentBackground = true
  /// Apple's documented word where another one was seen on the wire (`Documentation/provider-api.md#channel-reasons`).
  public var usesDocumentedReasons = false
  /// What to answer when the topic's suffix is not the push type's; nil accepts
  /// (`Documentation/provider-api.md#example-push`, last row).
  public var suffixMismatch: Rejection?

  public init() {}
}
