import Faults
import PushModel
import Transport

/// What goes wrong on one HTTP/2 connection of a provider. Made when the first fault is injected.
///
/// A request that a fault is injected into is not carried out: nothing of it is stored or delivered. One that is delayed is carried
/// out when the delay is over, while other streams go on.
final class ProviderFaults {
  private let holds: FaultHolds
  private unowned let owner: HTTP2Connection
  private let session: HTTP2ServerSession
  /// In the order of coming.
  private var held: [FaultedRequest] = []

  init(_ holds: FaultHolds, _ owner: HTTP2Connection, _ session: HTTP2ServerSession) {
    (self.holds, self.owner, self.session) = (holds, owner, session)
  }

  /// A fault has the request: it is answered by the fault, or never. `settle` does what becomes of it, and answers unless it
  /// is swallowed; `swallow` remembers that it was not taken.
  func inject(
    _ request: HTTP2Request, _ decision: FaultEngine.Decision, settle: @escaping (FaultFate) -> Void,
    swallow: @escaping (Explanation) -> Void
  ) {
    let stream = FaultedStream(request: request, session: session, owner: owner, apply: settle)
    let faulted = FaultedRequest(decision, FaultPlan(decision, on: .streams), on: stream) { [session] in
      swallow($0)
      if request.isCancelled { session.drop(request) }
    }
    faulted.begin(holds, stalling: owner.connection) { [weak self, weak owner] goOn in
      // Held, as what the fault still wants may end the connection.
      let owner = owner
      goOn()
      self?.held.removeAll { !$0.isHeld }
      owner?.proceed()
    }
    if faulted.isHeld { held.append(faulted) }
  }

  /// What is delayed is answered now: there is no later.
  func endDelays() { for faulted in held where faulted.isDelayed { faulted.end() } }

  func connectionClosed() {
    for faulted in held { faulted.giveUp(because: "the connection ended") }
    held = []
  }
}

/// A request on its stream.
private struct FaultedStream: FaultedConnection {
  let request: HTTP2Request
  let session: HTTP2ServerSession
  unowned let owner: HTTP2Connection
  let apply: (FaultFate) -> Void

  var isCancelled: Bool { request.isCancelled }

  func dribble(_ dribble: FaultEffects.Dribble) { owner.connection.dribble(dribble) }
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

  /// The provider is told that what came up to here is served, unless a fault was injected, and that all else is to be sent
  /// again elsewhere. A stream below one that was served can't be told so by GOAWAY, and is refused on its own.
  func goAway(_ goAway: FaultEffects.GoAway) {
    let body = goAway.reason.map { JSONValue.object([("reason", .string($0))]).encoded } ?? []
    guard request.isUnanswered else {
      owner.goAway(lastStreamID: max(request.streamID, owner.highestServed), body)
      return
    }
    // Streams of clients have odd numbers.
    let last = max(owner.highestServed, request.streamID - 2, 0)
    owner.goAway(lastStreamID: last, body)
    if request.streamID <= last { session.reset(request, .refusedStream) } else { session.drop(request) }
  }
}
