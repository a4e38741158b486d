import PushModel

/// Makes the ids of requests that brought none, the same ones from the same seed (`Sources/ARCHITECTURE.md#promises`
/// 5).
public final class MessageIDGenerator {
  private var choices: SeededChoices

  public init(seed: UInt64) { choices = SeededChoices(seed: seed) }

  /// Upper case and not a version-4 UUID, as Apple's are (`Documentation/provider-api.md#response`).
  public func next() -> MessageID { MessageID(high: choices.next(), low: choices.next()) }
}
