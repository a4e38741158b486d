import Faults
import PushModel
import Transport

/// What goes wrong on one HTTP/2 connection of a provider. Made when the first fault strikes it.
///
/// A request that a fault strikes is not carried out: nothing of it is stored or delivered. One that is delayed is carried
/// out when the delay is over, while other streams go on.
final class ProviderFaults {
  private let service: FaultService
  /// Owns, by its handler, what owns this object.
  private unowned let connection: SocketConnection
  private let session: HTTP2ServerSession
  /// In the order of coming.
  private var held: [StruckRequest] = []

  init(_ service: FaultService, _ connection: SocketConnection, _ session: HTTP2ServerSession) {
    (self.service, self.connection, self.session) = (service, connection, session)
  }

  /// A fault has the request: it is answered by the fault, or never. `settle` does what becomes of it, and answers unless it
  /// is swallowed; `swallow` remembers that it was not taken.
  func strike(
    _ request: HTTP2Request, _ decision: FaultEngine.Decision, settle: @escaping (FaultFate) -> Void,
    swallow: @escaping (Explanation) -> Void = { _ in }
  ) {
    let stream = StruckStream(request: request, connection: connection, session: session, apply: settle)
    let struck = StruckRequest(decision, FaultPlan(decision, on: .streams), on: stream) { [session] in
      swallow($0)
      if request.isCancelled { session.drop(request) }
    }
    // What the fault still wants may end the connection, and this object with it.
    struck.begin(service.holds, stalling: connection) { [weak self, weak owner = stream.owner] in
      self?.held.removeAll { !$0.isHeld }
      owner?.proceed()
    }
    if struck.isHeld { held.append(struck) }
  }

  /// What is delayed is answered now: there is no later.
  func endDelays() { for struck in held where struck.isDelayed { struck.end() } }

  func connectionClosed() {
    for struck in held { struck.giveUp(because: "the connection ended") }
    held = []
  }
}

/// A request on its stream.
private struct StruckStream: StruckConnection {
  let request: HTTP2Request
  unowned let connection: SocketConnection
  let session: HTTP2ServerSession
  let apply: (FaultFate) -> Void

  var owner: HTTP2Connection? { connection.handler as? HTTP2Connection }
  var isCancelled: Bool { request.isCancelled }

  func dribble(_ dribble: FaultEffects.Dribble) { connection.dribble(dribble) }
  func settle(_ fate: FaultFate) { apply(fate) }

  func goWrong(_ breakage: FaultBreakage) {
    switch breakage {
    case .resetStream(let code): return session.reset(request, HTTP2ErrorCode(rawValue: code))
    case .reset: break
    // It will not be answered; what else there is to say leaves before the connection ends.
    case .garbage, .halfClose:
      if request.isUnanswered { session.drop(request) }
      owner?.writeOutput()
    }
    connection.goWrong(breakage)
  }

  /// The provider is told that what came up to here is served, unless it was struck, and that all else is to be sent
  /// again elsewhere. A stream below one that was served can't be told so by GOAWAY, and is refused on its own.
  func goAway(_ goAway: FaultEffects.GoAway) {
    let body = goAway.reason.map { JSONValue.object([("reason", .string($0))]).encoded } ?? []
    guard request.isUnanswered else {
      owner?.goAway(lastStreamID: max(request.streamID, owner?.highestServed ?? 0), body)
      return
    }
    // Streams of clients have odd numbers.
    let last = max(owner?.highestServed ?? 0, request.streamID - 2, 0)
    owner?.goAway(lastStreamID: last, body)
    if request.streamID <= last { session.reset(request, .refusedStream) } else { session.drop(request) }
  }
}
