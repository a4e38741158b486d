import Basics
import Faults
import PushModel
import Services
import Transport

/// What a connection offers to a fault that was injected a push on it.
protocol FaultedConnection: ~Escapable {
  /// Its provider does not wait for the push any more.
  var isCancelled: Bool { get }
  func dribble(_ dribble: FaultEffects.Dribble)
  func limitStreams(to limit: Int)
  /// Does with the push what becomes of it.
  func settle(_ fate: FaultFate)
  /// `fate` is what has become of the push.
  func goAway(_ goAway: FaultEffects.GoAway, after fate: FaultFate)
  func goWrong(_ breakage: FaultBreakage)
}

/// What streams alone have.
extension FaultedConnection where Self: ~Escapable {
  var isCancelled: Bool { false }
  func limitStreams(to limit: Int) {}
  func goAway(_ goAway: FaultEffects.GoAway, after fate: FaultFate) {}
}

extension FaultPlan {
  /// Does all that is to be done when nothing holds it up any more.
  func carryOut(on connection: some FaultedConnection & ~Escapable) {
    begin(on: connection)
    end(on: connection)
  }

  /// Does what comes before a push is taken, and with it what becomes of it.
  func begin(on connection: some FaultedConnection & ~Escapable) {
    if let dribble { connection.dribble(dribble) }
    if let streamLimit { connection.limitStreams(to: streamLimit) }
    connection.settle(fate)
  }

  /// Does what comes after it.
  func end(on connection: some FaultedConnection & ~Escapable) {
    if let goAway { connection.goAway(goAway, after: fate) }
    if let breakage { connection.goWrong(breakage) }
  }
}

extension SocketConnection {
  func dribble(_ dribble: FaultEffects.Dribble) {
    self.dribble(bytes: dribble.bytes, everyNanoseconds: dribble.everyNanoseconds)
  }

  func goWrong(_ breakage: FaultBreakage) {
    switch breakage {
    case .reset, .resetStream: abort("reset by a fault", reset: true)
    case .garbage(let bytes): close(sendingRaw: bytes)
    case .halfClose: halfClose()
    }
  }
}

/// A request over HTTP that a fault was injected into: it is not carried out, but what the fault wants of it. A frame
/// waits in its connection instead, as those behind it do (`FrameFaults`).
///
///     begun ─ nothing holds it up ─→ carried out
///       └──→ held ─ over ────────────↗
///             └─ its provider has gone ─→ given up: remembered, and nothing else
final class FaultedRequest {
  private let decision: FaultEngine.Decision
  private let plan: FaultPlan
  private let connection: any FaultedConnection
  /// Remembers that it was not taken, and why.
  private let swallow: (Explanation) -> Void
  private var hold: FaultHold?

  init(
    _ decision: FaultEngine.Decision, _ plan: FaultPlan, on connection: any FaultedConnection,
    swallow: @escaping (Explanation) -> Void
  ) {
    (self.decision, self.plan, self.connection, self.swallow) = (decision, plan, connection, swallow)
  }

  var isHeld: Bool { hold != nil }
  var isDelayed: Bool { hold?.isDelay ?? false }

  /// If it has to wait, what is left to do then is handed to `goingOn`, which does it.
  func begin(
    _ holds: FaultHolds, stalling stalled: (any StallableConnection)? = nil,
    goingOn: @escaping (_ goOn: () -> Void) -> Void = { $0() }
  ) {
    hold = holds.hold(plan.hold, by: decision, stalling: stalled) { [self] in goingOn(goOn) }
    if hold == nil { plan.carryOut(on: connection) }
  }

  private func goOn() {
    guard !connection.isCancelled else { return giveUp(because: "the provider cancelled") }
    hold = nil
    plan.carryOut(on: connection)
  }

  /// It waits no more.
  func end() { hold?.end() }

  /// It came to an end before the fault did.
  func giveUp(because reason: String) {
    guard let hold else { return }
    hold.callOff()
    self.hold = nil
    var words = decision.words
    words.got += ", and \(reason) before it was over"
    swallow(words)
  }
}

/// A request on its stream.
struct FaultedStream: FaultedConnection {
  let request: HTTP2Request
  let session: HTTP2ServerSession
  unowned let owner: HTTP2Connection
  let apply: (FaultFate) -> Void

  var isCancelled: Bool { request.isCancelled }

  func dribble(_ dribble: FaultEffects.Dribble) { owner.connection.dribble(dribble) }
  func limitStreams(to limit: Int) { owner.limitStreams(to: limit) }
  func settle(_ fate: FaultFate) { apply(fate) }

  func goWrong(_ breakage: FaultBreakage) {
    switch breakage {
    case .resetStream(let code): return session.reset(request, HTTP2ErrorCode(rawValue: code))
    case .reset: break
    // It will not be answered; what else there is to say leaves before the connection ends.
    case .garbage, .halfClose:
      if request.isUnanswered { session.drop(request) }
      owner.writeOutput()
    }
    owner.connection.goWrong(breakage)
  }

  func goAway(_ goAway: FaultEffects.GoAway, after fate: FaultFate) {
    switch goAway.lastStream {
    case .judged: sayJudged(goAway, after: fate)
    case .highest: owner.goAway(lastStreamID: session.lastTakenStreamID, goAway)
    case .zero:
      // What is answered leaves before it: nothing of a stream above the last one does.
      owner.writeOutput()
      owner.goAway(lastStreamID: 0, goAway)
      owner.giveUpHeld(because: "GOAWAY said that nothing was taken")
      owner.turnAway(request, session)
    }
    // It was taken, and is left without an answer.
    if fate == .takeInSilence, request.isUnanswered { session.drop(request) }
  }

  /// The provider is told that what came up to here is served, unless a fault was injected, and that all else is to be sent
  /// again elsewhere. A stream below one that was served can't be told so by GOAWAY, and is refused on its own.
  private func sayJudged(_ goAway: FaultEffects.GoAway, after fate: FaultFate) {
    guard request.isUnanswered, fate != .takeInSilence else {
      return owner.goAway(lastStreamID: max(request.streamID, owner.highestServed), goAway)
    }
    // Streams of clients have odd numbers.
    let last = max(owner.highestServed, request.streamID - 2, 0)
    owner.goAway(lastStreamID: last, goAway)
    if request.streamID <= last {
      session.reset(request, .refusedStream)
    } else {
      owner.turnAway(request, session)
    }
  }
}
