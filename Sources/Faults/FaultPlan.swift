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

/// What becomes of a push that a fault was injected into.
public enum FaultFate: Equatable, Sendable {
  /// It is taken up as though no fault was injected.
  case take
  /// The same, but its provider hears nothing of it.
  case takeInSilence
  /// Its provider hears that it is refused.
  case refuse(FaultRefusal)
  /// It is not taken, and its provider hears nothing of it.
  case swallow
}

/// A refusal that is not in the push.
public struct FaultRefusal: Equatable, Sendable {
  /// How a connection ends with an answer.
  public enum Ending: Sendable { case close, halfClose }

  public var rejection: Rejection
  /// Status of the error packet, in frames.
  public var status: UInt8
  /// What the error packet names; nil for what a server would name.
  public var identifier: UInt32?
  /// How the connection ends with this answer; nil where it goes on.
  public var ending: Ending?
}

/// How a connection goes wrong: the last that a fault does to it.
public enum FaultBreakage: Equatable, Sendable {
  /// The stream alone ends, with RST_STREAM and this code.
  case resetStream(UInt32)
  /// The connection ends with a TCP RST.
  case reset
  /// These bytes leave, and the connection ends.
  case garbage([UInt8])
  /// Our side of the connection ends.
  case halfClose
}

/// What a connection does when a fault is injected into a push on it: it waits, perhaps, and then does the rest in order. Effects
/// that exclude each other are settled here, so that every connection settles them alike:
///
///     hold        ─→ dribble,     ─→ fate of the push             ─→ GOAWAY         ─→ breakage
///     stall,         stream limit    taken: take in silence          on streams        the first of those three
///     else delay                     reset, rstStream,               else farewell
///                                    garbage: swallow
///                                    reason, legacy: refuse                            halfClose; with an answer that ends
///                                    goaway, halfClose: swallow;                       the connection, it ends so
///                                    a GOAWAY of the highest: take
///
/// Frames prefer `legacy` to `reason`, HTTP the other way about. Where there are no streams, to end one is to reset the
/// connection; where there is no GOAWAY, a server that goes refuses with `Shutdown` and ends the connection, or says farewell behind
/// a push that it took.
public struct FaultPlan: Equatable, Sendable {
  public enum Hold: Equatable, Sendable {
    /// Nothing is read or written until the rule is switched off.
    case stall
    /// The push waits for so long, and on HTTP/2 others pass it.
    case delay(milliseconds: Int64)
  }

  public var hold: Hold?
  /// From here on answers leave in small pieces.
  public var dribble: FaultEffects.Dribble?
  /// From here on the client may have so many streams.
  public var streamLimit: Int?
  public var fate: FaultFate
  /// GOAWAY follows, with a reason or none.
  public var goAway: FaultEffects.GoAway?
  /// What a server that goes says behind a push that it took, where there is no GOAWAY: in frames an error packet of its own; in an
  /// exchange its answer is the last.
  public var farewell: FaultRefusal?
  public var breakage: FaultBreakage?

  public init(_ decision: FaultEngine.Decision, on channel: FaultChannel) {
    let effects = decision.effects
    hold = effects.stalls ? .stall : Self.delay(decision)
    dribble = effects.dribble
    streamLimit = channel == .streams ? effects.streamLimit : nil
    fate = effects.takesPush ? .takeInSilence : .swallow
    breakage = FaultEffects.all.lazy.compactMap { $0.breakage(decision, channel) }.first
    if breakage == nil { settle(effects, channel) }
  }

  /// Of a push that has no connection which could go wrong. Where nothing would have moved, it is swallowed, after its delay if it has one.
  public init(withoutConnection decision: FaultEngine.Decision, as channel: FaultChannel) {
    self.init(decision, on: channel)
    (dribble, streamLimit, goAway, farewell, breakage) = (nil, nil, nil, nil, nil)
    if hold == .stall { (hold, fate) = (Self.delay(decision), .swallow) }
  }

  private static func delay(_ decision: FaultEngine.Decision) -> Hold? {
    decision.delayMilliseconds > 0 ? .delay(milliseconds: decision.delayMilliseconds) : nil
  }

  /// Nothing breaks at once: the provider hears something, or nothing but the end.
  private mutating func settle(_ effects: FaultEffects, _ channel: FaultChannel) {
    if channel == .streams { goAway = effects.goAway }
    if effects.takesPush, effects.goAway != nil || effects.halfCloses {
      return settleTaken(effects, channel)
    }
    let answer = Self.answer(effects, channel)
    let refusal = answer ?? Self.shutdown(effects, channel)
    let servesAll = effects.goAway?.lastStream == .highest
    if let refusal {
      fate = .refuse(refusal)
    } else if servesAll {
      fate = .take
      farewell = Self.farewell(effects, channel)
    } else {
      fate = goAway != nil || effects.halfCloses ? .swallow : .take
    }
    if effects.halfCloses, refusal?.ending == nil, farewell == nil { breakage = .halfClose }
  }

  /// What was taken is not answered. In frames that is how a push is accepted, and a server that goes names it.
  private mutating func settleTaken(_ effects: FaultEffects, _ channel: FaultChannel) {
    fate = .takeInSilence
    if channel == .frames, effects.goAway != nil {
      (fate, farewell) = (.take, Self.farewell(effects, channel))
    } else if channel != .streams || effects.halfCloses || goAway?.keepsOpen != true {
      breakage = .halfClose
    }
  }

  /// The refusal that a rule asks for.
  private static func answer(_ effects: FaultEffects, _ channel: FaultChannel) -> FaultRefusal? {
    let byReason = effects.reason.map { FaultRefusal(rejection: $0, status: $0.legacyStatus) }
    let byStatus = effects.legacy.map {
      FaultRefusal(
        rejection: Rejection(legacyStatus: $0.status), status: $0.status, identifier: $0.identifier)
    }
    var refusal = channel == .frames ? byStatus ?? byReason : byReason ?? byStatus
    refusal?.ending = ending(effects, channel)
    return refusal
  }

  /// The refusal of a server that goes, where it can say so in no other way.
  private static func shutdown(_ effects: FaultEffects, _ channel: FaultChannel) -> FaultRefusal? {
    guard let goAway = effects.goAway, channel != .streams, goAway.lastStream != .highest else { return nil }
    var refusal = FaultRefusal(rejection: .shutdown, status: Rejection.shutdown.legacyStatus)
    if channel == .frames, goAway.lastStream == .zero { refusal.identifier = 0 }
    refusal.ending = ending(effects, channel)
    return refusal
  }

  private static func farewell(_ effects: FaultEffects, _ channel: FaultChannel) -> FaultRefusal? {
    guard let ending = ending(effects, channel) else { return nil }
    return FaultRefusal(
      rejection: .shutdown, status: Rejection.shutdown.legacyStatus, ending: ending)
  }

  /// How an answer ends its connection. An error packet is the last that a provider hears, and an exchange ends with its answer.
  private static func ending(_ effects: FaultEffects, _ channel: FaultChannel) -> FaultRefusal.Ending? {
    switch channel {
    case .frames: effects.halfCloses ? .halfClose : .close
    case .exchange: effects.halfCloses || effects.goAway?.keepsOpen == false ? .close : nil
    case .streams: nil
    }
  }
}
