import Faults
import PushModel
import Transport

/// What goes wrong on one HTTP/2 connection of a provider. Made when the first fault strikes it.
///
/// A request that a fault strikes is not carried out: nothing of it is stored or delivered. One that is delayed is carried
/// out when the delay is over, while other streams go on.
final class ProviderFaults {
  private struct Held {
    var struck: any StruckRequest
    var decision: FaultEngine.Decision
    var plan: FaultPlan
    /// nil while it waits for its rule to be switched off.
    var timer: LoopEvent?
  }

  private let service: FaultService
  /// Owns, by its handler, what owns this object.
  private unowned let connection: SocketConnection
  private let session: HTTP2ServerSession
  private var held: [ObjectIdentifier: Held] = [:]

  init(_ service: FaultService, _ connection: SocketConnection, _ session: HTTP2ServerSession) {
    (self.service, self.connection, self.session) = (service, connection, session)
  }

  private var owner: HTTP2Connection? { connection.handler as? HTTP2Connection }

  /// A fault has the request: it is answered by the fault, or never.
  func strike(_ struck: any StruckRequest, _ decision: FaultEngine.Decision) {
    let plan = service.plan(decision, on: .streams)
    let entry = Held(struck: struck, decision: decision, plan: plan)
    switch plan.hold {
    case .stall?: stall(entry)
    case .delay(let milliseconds)?: delay(entry, milliseconds)
    case nil: carryOut(entry)
    }
  }

  // MARK: Waiting

  private func delay(_ entry: Held, _ milliseconds: Int64) {
    let key = ObjectIdentifier(entry.struck.request)
    held[key] = entry
    held[key]?.timer = service.timer(milliseconds) { [unowned self] in proceed(key) }
  }

  private func stall(_ entry: Held) {
    let key = ObjectIdentifier(entry.struck.request)
    held[key] = entry
    connection.setStalled(true)
    service.hold(self, by: entry.decision) { [unowned self] in
      connection.setStalled(false)
      proceed(key)
    }
  }

  /// What the fault still wants may end the connection, and this object with it.
  private func proceed(_ key: ObjectIdentifier) {
    let owner = owner
    goOn(key)
    owner?.proceed()
  }

  private func goOn(_ key: ObjectIdentifier) {
    guard let entry = held.removeValue(forKey: key) else { return }
    guard !entry.struck.request.isCancelled else {
      give(up: entry, "the provider cancelled")
      return session.drop(entry.struck.request)
    }
    carryOut(entry)
  }

  /// What is delayed is answered now: there is no later.
  func goOnNow() {
    let delayed = held.values.filter { $0.timer != nil }.map(\.struck.request)
    for request in delayed.sorted(by: { $0.streamID < $1.streamID }) { goOn(ObjectIdentifier(request)) }
  }

  func connectionClosed() {
    for entry in held.values {
      service.forget(self, entry.decision)
      give(up: entry, "the connection ended")
    }
    held = [:]
  }

  private func give(up entry: Held, _ reason: String) {
    var words = entry.decision.words
    words.got += ", and \(reason) before it was over"
    entry.struck.giveUp(entry.decision, words)
  }

  // MARK: Effects

  private func carryOut(_ entry: Held) {
    for step in entry.plan.steps { carryOut(step, entry.decision, entry.struck) }
  }

  private func carryOut(_ step: FaultStep, _ decision: FaultEngine.Decision, _ struck: any StruckRequest) {
    switch step {
    case .dribble(let dribble):
      connection.dribble(bytes: dribble.bytes, everyNanoseconds: dribble.everyNanoseconds)
    case .take, .refuse, .swallow: struck.carryOut(step, decision, on: session)
    case .resetStream(let code): session.reset(struck.request, HTTP2ErrorCode(rawValue: code))
    case .goAway(let goAway): turnAway(struck.request, goAway)
    case .reset: connection.abort("reset by a fault", reset: true)
    case .garbage(let bytes):
      drop(struck.request)
      connection.close(sendingRaw: bytes)
    case .halfClose:
      drop(struck.request)
      connection.halfClose()
    case .close: connection.close()
    }
  }

  /// It will not be answered; what else is there to say leaves before the connection ends.
  private func drop(_ request: HTTP2Request) {
    if request.isUnanswered { session.drop(request) }
    owner?.writeOutput()
  }

  /// The provider is told that what came up to here is served, unless it was struck, and that all else is to be sent
  /// again elsewhere. A stream below one that was served can't be told so by GOAWAY, and is refused on its own.
  private func turnAway(_ request: HTTP2Request, _ goAway: FaultEffects.GoAway) {
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
