import PushModel

/// Makes the ids of requests that brought none, the same ones from the same seed (`Sources/ARCHITECTURE.md#promises`
/// 5).
public final class MessageIDGenerator {
  private var state: UInt64

  public init(seed: UInt64) { state = seed }

  /// Upper case and not a version-4 UUID, as Apple's are (`Documentation/provider-api.md#response`).
  public func next() -> MessageID { MessageID(high: nextWord(), low: nextWord()) }

  /// SplitMix64: a counter and a mixing function (Steele, Lea, Flood 2014).
  private func nextWord() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var word = state
    word = (word ^ word >> 30) &* 0xbf58_476d_1ce4_e5b9
    word = (word ^ word >> 27) &* 0x94d0_49bb_1331_11eb
    return word ^ word >> 31
  }
}
