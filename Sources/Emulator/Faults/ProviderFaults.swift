import Faults
import ProviderAPI
import PushModel
import Transport

/// What goes wrong on one HTTP/2 connection of a provider. Made when the first fault strikes it.
///
/// A push that a fault strikes is not taken: nothing of it is stored or delivered. One that is delayed is taken when the
/// delay is over, while other streams go on.
final class ProviderFaults {
  private struct Held {
    var request: HTTP2Request
    var judged: JudgedRequest
    var decision: FaultEngine.Decision
    /// nil while it waits for its rule to be switched off.
    var timer: LoopEvent?
  }

  private let service: FaultService
  /// Owns this object, and knows what answers.
  private unowned let responder: PushResponder
  private let session: HTTP2ServerSession
  private var held: [ObjectIdentifier: Held] = [:]

  init(_ service: FaultService, _ responder: PushResponder, _ session: HTTP2ServerSession) {
    (self.service, self.responder, self.session) = (service, responder, session)
  }

  private var connection: TLSConnection { responder.connection }
  private var owner: HTTP2Connection? { connection.handler as? HTTP2Connection }

  /// Whether a fault has the request; it is answered by the fault then, or never.
  func strikes(_ request: HTTP2Request, _ judged: JudgedRequest) -> Bool {
    let decision = service.decide(
      request.message, judged, .provider, responder.requests.identity, connection: connection.remoteAddress)
    guard let decision else { return false }
    if decision.effects.stalls {
      stall(Held(request: request, judged: judged, decision: decision))
    } else if decision.delayMilliseconds > 0 {
      delay(Held(request: request, judged: judged, decision: decision))
    } else {
      carryOut(decision, request, judged)
    }
    return true
  }

  // MARK: Waiting

  private func delay(_ entry: Held) {
    let key = ObjectIdentifier(entry.request)
    held[key] = entry
    held[key]?.timer = service.timer(entry.decision.delayMilliseconds) { [unowned self] in proceed(key) }
  }

  private func stall(_ entry: Held) {
    let key = ObjectIdentifier(entry.request)
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
    guard !entry.request.isCancelled else {
      give(up: entry, "the provider cancelled")
      return session.drop(entry.request)
    }
    carryOut(entry.decision, entry.request, entry.judged)
  }

  /// What is delayed is answered now: there is no later.
  func goOnNow() {
    for (key, entry) in held where entry.timer != nil { goOn(key) }
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
    record(entry.judged, entry.request, .internalServerError, words)
  }

  // MARK: Effects

  private func carryOut(
    _ decision: FaultEngine.Decision, _ request: HTTP2Request, _ judged: JudgedRequest
  ) {
    let effects = decision.effects
    if let dribble = effects.dribble {
      connection.dribble(bytes: dribble.bytes, everyNanoseconds: dribble.everyMilliseconds * 1_000_000)
    }
    if effects.resetsConnection || !decision.garbage.isEmpty || effects.resetStream != nil {
      return breakOff(decision, request, judged)
    }
    let now = service.clock.now()
    if let rejection = decision.rejection {
      let refusal = decision.refusal(judged, rejection, now: now)
      answer(request, judged, responder.requests.reject(refusal, judged, request.message, now: now))
    } else if effects.goAway != nil {
      record(judged, request, .shutdown, decision.words)
    } else if effects.halfCloses {
      swallow(decision, request, judged)
    } else if decision.isMagic, judged.lacksOnlyToken {
      let response = responder.requests.acceptAnyway(judged, request.message, now: now)
      answer(request, judged, (response, nil))
    } else {
      answer(request, judged, responder.requests.act(judged, on: request.message, now: now))
    }
    if let goAway = effects.goAway { turnAway(request, goAway) }
    if effects.halfCloses {
      owner?.writeOutput()
      connection.halfClose()
    }
  }

  private func answer(
    _ request: HTTP2Request, _ judged: JudgedRequest, _ outcome: (HTTP2Response, Rejection?)
  ) {
    responder.answer(request, judged, outcome.0, outcome.1, session)
  }

  private func breakOff(
    _ decision: FaultEngine.Decision, _ request: HTTP2Request, _ judged: JudgedRequest
  ) {
    record(judged, request, .internalServerError, decision.words)
    if decision.effects.resetsConnection {
      connection.abort("reset by a fault", reset: true)
    } else if !decision.garbage.isEmpty {
      session.drop(request)
      owner?.writeOutput()
      connection.close(sendingRaw: decision.garbage)
    } else if let code = decision.effects.resetStream {
      session.reset(request, HTTP2ErrorCode(rawValue: code))
    }
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

  private func swallow(
    _ decision: FaultEngine.Decision, _ request: HTTP2Request, _ judged: JudgedRequest
  ) {
    record(judged, request, .internalServerError, decision.words)
    session.drop(request)
  }

  /// The history has it, though the provider hears of it in another way or not at all.
  private func record(
    _ judged: JudgedRequest, _ request: HTTP2Request, _ rejection: Rejection, _ words: Explanation
  ) {
    let refused = RejectedRequest(rejection, messageID: judged.messageID, explanation: words)
    _ = responder.requests.reject(refused, judged, request.message, now: service.clock.now())
  }
}
