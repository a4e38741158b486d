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
    /// nil while it waits for its rule to be switched off.
    var timer: LoopEvent?
  }

  private let service: FaultService
  /// Owns, by its handler, what owns this object.
  private unowned let connection: TLSConnection
  private let session: HTTP2ServerSession
  private var held: [ObjectIdentifier: Held] = [:]

  init(_ service: FaultService, _ connection: TLSConnection, _ session: HTTP2ServerSession) {
    (self.service, self.connection, self.session) = (service, connection, session)
  }

  private var owner: HTTP2Connection? { connection.handler as? HTTP2Connection }

  /// A fault has the request: it is answered by the fault, or never.
  func strike(_ struck: any StruckRequest, _ decision: FaultEngine.Decision) {
    if decision.effects.stalls {
      stall(Held(struck: struck, decision: decision))
    } else if decision.delayMilliseconds > 0 {
      delay(Held(struck: struck, decision: decision))
    } else {
      carryOut(decision, struck)
    }
  }

  // MARK: Waiting

  private func delay(_ entry: Held) {
    let key = ObjectIdentifier(entry.struck.request)
    held[key] = entry
    held[key]?.timer = service.timer(entry.decision.delayMilliseconds) { [unowned self] in proceed(key) }
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
    carryOut(entry.decision, entry.struck)
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
    entry.struck.swallow(entry.decision, words)
  }

  // MARK: Effects

  private func carryOut(_ decision: FaultEngine.Decision, _ struck: any StruckRequest) {
    let effects = decision.effects
    if let dribble = effects.dribble {
      connection.dribble(bytes: dribble.bytes, everyNanoseconds: dribble.everyMilliseconds * 1_000_000)
    }
    if effects.resetsConnection || !decision.garbage.isEmpty || effects.resetStream != nil {
      return breakOff(decision, struck)
    }
    if let rejection = decision.rejection {
      struck.refuse(rejection, decision, on: session)
    } else if effects.goAway != nil {
      struck.swallow(decision, decision.words)
    } else if effects.halfCloses {
      struck.swallow(decision, decision.words)
      session.drop(struck.request)
    } else {
      struck.carryOut(decision, on: session)
    }
    if let goAway = effects.goAway { turnAway(struck.request, goAway) }
    if effects.halfCloses {
      owner?.writeOutput()
      connection.halfClose()
    }
  }

  private func breakOff(_ decision: FaultEngine.Decision, _ struck: any StruckRequest) {
    struck.swallow(decision, decision.words)
    if decision.effects.resetsConnection {
      connection.abort("reset by a fault", reset: true)
    } else if !decision.garbage.isEmpty {
      session.drop(struck.request)
      owner?.writeOutput()
      connection.close(sendingRaw: decision.garbage)
    } else if let code = decision.effects.resetStream {
      session.reset(struck.request, HTTP2ErrorCode(rawValue: code))
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
}
