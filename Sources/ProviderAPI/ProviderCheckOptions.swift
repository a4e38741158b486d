import PushModel

/// Where Apple's behaviour is disputed or a user may want it otherwise.
public struct ProviderCheckOptions: Sendable {
  /// Accept what can't be verified, and note what strict would have answered (`design.md`, Credentials).
  public var isLenient = false
  /// `background` with an explicit priority of 10 is `BadPriority` (`spec/provider-protocol.md` G.1, K 20).
  public var refusesUrgentBackground = true
  /// Apple's documented word where another one was seen on the wire (`spec/provider-protocol.md` F.3).
  public var usesDocumentedReasons = false
  /// What to answer when the topic's suffix is not the push type's; nil accepts (J.3, last row).
  public var suffixMismatch: Rejection?

  public init() {}
}
