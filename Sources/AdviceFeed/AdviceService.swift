import Advice
import Basics
import Broker
import Console
import Platform
import PushModel
import Services

/// Has the adviser know what providers do, and tells what it finds.
///
///     record of the journal ─ nothing to remark ─→ counted
///               └──────────── marked, or all are wanted ─→ SeenPush ─→ Adviser ─→ findings: API, events, metrics
///     what else happens on connections ─ behind the pushes before it ────↗
///
/// The path of a push pays for the marks of its record (`PushMarks`). What is seldom is told by calls, before each of which the journal is
/// looked at, so that the adviser hears all in the order in which it happened.
package final class AdviceService: AdviceBoard {
  private let broker: Broker
  private let clock: EmulatorClock
  private let publish: (_ event: String, _ members: [(String, JSONValue)]) -> Void
  private var adviser = Adviser()
  /// Set in `init`.
  private var reader: JournalReader?
  /// The connection all of whose pushes are looked at, as it is new; 0 for none.
  private var sampled: UInt32 = 0
  private var mayHaveNews = false
  private var replaced: ReplacedNotifications
  private var payloads = PayloadSample()

  package init(
    _ broker: Broker, _ clock: EmulatorClock,
    publish: @escaping (_ event: String, _ members: [(String, JSONValue)]) -> Void
  ) {
    (self.broker, self.clock, self.publish) = (broker, clock, publish)
    replaced = ReplacedNotifications(broker)
    reader = broker.journal.add { [unowned self] in take($0) }
  }

  deinit {
    if let reader { broker.journal.remove(reader) }
  }

  private var now: Moment { Moment(SystemClock.now(), clock.now()) }

  // MARK: Pushes

  /// Has the adviser see all that has come.
  private func look() {
    if let reader { broker.journal.look(reader) }
  }

  private func take(_ ids: Range<UInt64>) {
    see(ids)
    payloads.look(at: ids, in: broker.journal) { problem, push, connection in
      adviser.sawPayloadProblem(problem, push: push, on: connection, at: now)
      mayHaveNews = true
    }
  }

  private func see(_ ids: Range<UInt64>) {
    let takesAll = adviser.looksAtAll
    guard takesAll || sampled != 0 || broker.journal.lastMarked >= ids.lowerBound else {
      return adviser.passed(UInt64(ids.count))
    }
    var passed: UInt64 = 0
    for id in ids {
      guard let record = broker.journal[id] else { continue }
      guard record.marks.isDisjoint(with: [.remarkable, .elsewhere]) else {
        // What somebody else decides about is counted with its verdict.
        if !record.marks.contains(.elsewhere), !see(record) { passed += 1 }
        continue
      }
      if takesAll || sampled != 0 && record.connection == sampled, see(record) { continue }
      passed += 1
    }
    if passed > 0 { adviser.passed(passed) }
  }

  /// False for one that is of no provider: a person's at the console.
  private func see(_ record: borrowing JournalRecord) -> Bool {
    guard record.connection != 0, record.interface != .console else { return false }
    let (token, payload) = (record.presentedToken, record.payload)
    var push = SeenPush(
      id: record.id, connection: record.connection, interface: record.interface,
      environment: record.environment, token: token, payload: payload)
    (push.command, push.identifier) = (record.command, record.identifier)
    push.pushType = record.saidPushType
    (push.priority, push.expiration) = (record.priority, record.expiration)
    let fault = broker.journal.detail(record.id)?.fault
    push.rejection = fault?.isAnswered == false ? nil : record.rejection
    push.fault = fault?.name
    push.isForGoneApp = isForGoneApp(record)
    adviser.saw(push, at: Moment(record.arrival, record.receivedAt))
    mayHaveNews = true
    return true
  }

  /// Whether the gateway has taken it for an app that is gone, which a provider hears of by the feedback service.
  private func isForGoneApp(_ record: borrowing JournalRecord) -> Bool {
    guard record.interface == .gateway, record.state == .discarded, let row = record.registration,
      broker.registry.contains(row)
    else { return false }
    return broker.registry[row].goneAt != .never
  }

  /// Somebody else has decided about one. One that was not taken came behind a rejected frame, and its provider has to send it again.
  package func decided(_ id: UInt64, isTaken: Bool) {
    look()
    guard let record = broker.journal[id] else { return }
    // A sink that discards what came behind a rejected frame has its provider send it again.
    let isDiscarded = record.interface == .gateway && record.rejection == .shutdown
    guard isTaken, !isDiscarded else {
      let (token, payload) = (record.presentedToken, record.payload)
      let lost = LostPush(token: token, payload: payload)
      return saw(.discardedBehindError(lost), on: record.connection)
    }
    let isDull = record.rejection == nil && !record.marks.contains(.remarkable) && !adviser.looksAtAll
    if isDull || !see(record) { adviser.passed(1) }
  }

  /// Has all be looked at that comes on a connection, from now until `endSample`.
  package func beginSample(of connection: UInt32) {
    look()
    sampled = connection
  }

  package func endSample() {
    look()
    sampled = 0
  }

  // MARK: What else happens

  package func opened(_ connection: SeenConnection) {
    look()
    adviser.opened(connection, at: now)
    mayHaveNews = true
  }

  package func identified(_ connection: UInt32, as credential: String) {
    look()
    adviser.identified(connection, as: credential)
  }

  package func saw(_ event: ConnectionEvent, on connection: UInt32) {
    guard connection != 0 else { return }
    look()
    adviser.saw(event, on: connection, at: now)
    mayHaveNews = true
  }

  package func ended(_ connection: UInt32, _ end: SeenEnd) {
    look()
    adviser.ended(connection, end, at: now)
    mayHaveNews = true
  }

  package func feedbackRead(credential: String, peer: String) {
    look()
    adviser.feedbackRead(credential: credential, peer: peer, at: now)
    mayHaveNews = true
  }

  /// Tells the adviser of what has been accepted on a connection since a notification, the oldest of the newest `Adviser.acceptedLimit`
  /// first.
  package func tellAccepted(on connection: UInt32, since first: UInt64) {
    look()
    let moment = now
    let ids = AcceptedFrames.ids(
      in: broker.journal, on: connection, since: first, atMost: Adviser.acceptedLimit)
    for id in ids {
      guard let record = broker.journal[id] else { continue }
      let (token, payload) = (record.presentedToken, record.payload)
      let push = LostPush(token: token, payload: payload)
      adviser.saw(.acceptedBeforeError(push), on: connection, at: moment)
    }
  }

  // MARK: Time

  /// The turn ends, and all that has happened in it is told elsewhere.
  package func turnEnded() {
    look()
    tellNews()
  }

  private func tellNews() {
    guard mayHaveNews else { return }
    mayHaveNews = false
    for finding in adviser.takeNews() { publish("advice", Finding.shape.written(finding)) }
  }

  /// To be called about once a second.
  package func timePassed() {
    look()
    let moment = now
    payloads.timePassed()
    lookForReplaced(moment)
    adviser.timePassed(moment)
    mayHaveNews = true
    tellNews()
  }

  private func lookForReplaced(_ moment: Moment) {
    replaced.take { adviser.saw(.replacedWhileOffline(push: $0), on: $1, at: moment) }
  }

  // MARK: What is found

  /// The worst first.
  package func findings() -> [Finding] {
    look()
    let moment = now
    lookForReplaced(moment)
    adviser.timePassed(moment)
    return adviser.findings()
  }

  /// Pushes that were seen, as a count.
  package var pushes: UInt64 {
    look()
    return adviser.pushes
  }

  /// The providers have ended: what has not been sent again by now never will be.
  package func nothingMoreComes() {
    look()
    adviser.nothingMoreComes(now)
    mayHaveNews = true
    tellNews()
  }

  /// Forgets all that was found and counted.
  package func clear() {
    look()
    adviser.clear()
    replaced.pass()
    mayHaveNews = false
  }

  package var metrics: [MetricFamily] {
    let findings = findings()
    return [
      MetricFamily(
        "apns_emulator_advice_findings", .gauge, "What providers were seen to do wrong.",
        Severity.allCases.map { severity in
          .init(Double(findings.count { $0.severity == severity }), [("severity", severity.rawValue)])
        })
    ]
  }
}
