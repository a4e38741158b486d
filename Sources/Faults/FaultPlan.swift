import PushModel

/// How a provider's connection speaks, as far as faults differ by it.
public enum FaultChannel: String, Sendable, CaseIterable {
  /// Binary frames, by the gateway and by the bridge: an error packet ends the connection, and there are no streams.
  case frames
  /// HTTP/2.
  case streams
  /// One request at a time, in plain HTTP/1.1: no streams and no GOAWAY.
  case exchange
}

/// One thing that a connection does because of a fault.
public enum FaultStep: Equatable, Sendable {
  /// From here on answers leave in small pieces.
  case dribble(FaultEffects.Dribble)
  /// The push is taken up as though no fault had struck.
  case take
  /// Its provider hears that it is refused.
  case refuse(FaultRefusal)
  /// It is not taken, and its provider hears nothing of it.
  case swallow
  /// The stream ends with RST_STREAM and this code.
  case resetStream(UInt32)
  /// GOAWAY, with a reason or none.
  case goAway(FaultEffects.GoAway)
  /// The connection ends with a TCP RST.
  case reset
  /// These bytes leave, and the connection ends.
  case garbage([UInt8])
  /// Our side of the connection ends.
  case halfClose
  /// The connection ends in order.
  case close
}

/// A refusal that is not in the push.
public struct FaultRefusal: Equatable, Sendable {
  public var rejection: Rejection
  /// Status of the error packet, in frames.
  public var status: UInt8
  /// What the error packet names; nil for what a server would name.
  public var identifier: UInt32?
}

/// What a connection does when a fault strikes a push on it: it waits, perhaps, and then takes the steps in order. Effects
/// that exclude each other are settled here, so that every connection settles them alike:
///
///     stall, else delay  ─→  dribble  ─→  what becomes of the push     ─→  what becomes of the connection
///                                         reset, rstStream, garbage:       the first of these three, and it is over
///                                           swallow
///                                         reason, legacy: refuse           goaway, halfClose: both, where both are known
///                                         goaway, halfClose: swallow
///                                         otherwise: take
///
/// Frames prefer `legacy` to `reason`, HTTP the other way about. Where there are no streams, to end one is to reset the
/// connection; where there is no GOAWAY, a server that goes refuses with `Shutdown` and ends the connection.
public struct FaultPlan: Equatable, Sendable {
  public enum Hold: Equatable, Sendable {
    /// Nothing is read or written until the rule is switched off.
    case stall
    /// The push waits for so long, and on HTTP/2 others pass it.
    case delay(milliseconds: Int64)
  }

  public var hold: Hold?
  public var steps: [FaultStep]

  public init(_ decision: FaultEngine.Decision, on channel: FaultChannel) {
    let effects = decision.effects
    hold =
      effects.stalls
      ? .stall : decision.delayMilliseconds > 0 ? .delay(milliseconds: decision.delayMilliseconds) : nil
    steps = effects.dribble.map { [.dribble($0)] } ?? []
    let breakage = FaultEffects.all.lazy.compactMap { $0.breakage(decision, channel) }.first
    steps += breakage.map { [.swallow, $0] } ?? Self.answer(effects, channel)
  }

  /// What becomes of a push that has no connection which could go wrong: `take`, `refuse`, or `swallow`, also where nothing
  /// would have moved.
  public var fate: FaultStep {
    hold == .stall
      ? .swallow
      : steps.first { if case .dribble = $0 { false } else { true } } ?? .take
  }

  private static func answer(_ effects: FaultEffects, _ channel: FaultChannel) -> [FaultStep] {
    let end: [FaultStep] = effects.halfCloses ? [.halfClose] : []
    if channel == .streams {
      let goAway = effects.goAway.map { [FaultStep.goAway($0)] } ?? []
      let isOver = effects.goAway != nil || effects.halfCloses
      return [refusal(effects, channel).map(FaultStep.refuse) ?? (isOver ? .swallow : .take)] + goAway + end
    }
    if let refusal = refusal(effects, channel) {
      // An error packet is the last that a provider hears, and an exchange ends with its answer.
      let ends = channel == .frames || effects.goAway != nil || effects.halfCloses
      return [.refuse(refusal)]
        + (ends ? [channel == .frames && effects.halfCloses ? .halfClose : .close] : [])
    }
    return effects.halfCloses ? [.swallow] + end : [.take]
  }

  private static func refusal(_ effects: FaultEffects, _ channel: FaultChannel) -> FaultRefusal? {
    let byReason = effects.reason.map { FaultRefusal(rejection: $0, status: $0.legacyStatus) }
    let byStatus = effects.legacy.map {
      FaultRefusal(
        rejection: Rejection(legacyStatus: $0.status), status: $0.status, identifier: $0.identifier)
    }
    let refusal = channel == .frames ? byStatus ?? byReason : byReason ?? byStatus
    guard refusal == nil, effects.goAway != nil, channel != .streams else { return refusal }
    return FaultRefusal(rejection: .shutdown, status: Rejection.shutdown.legacyStatus)
  }
}
