import Basics
import PushModel

/// Facts about providers in, findings out. No socket, no clock; bounded however much is seen.
///
/// Each family of rules is a struct of its own (`Rules`), which is told the facts that concern it. `ConnectionTable` knows whose a connection
/// is, `FindingTable` counts.
///
///     var adviser = Adviser()
///     adviser.opened(connection, at: moment)
///     adviser.saw(push, at: moment)
///     for finding in adviser.findings() { print(finding.sentence) }
package struct Adviser: ~Copyable {
  /// Pushes that were seen, as a count.
  package private(set) var pushes: UInt64 = 0

  /// Provider tokens are called old from this age, in seconds: Apple refuses them when they are an hour old.
  package static let oldToken: Int64 = 55 * 60
  /// Most frames before an error packet that are remembered, as a count.
  package static let acceptedLimit = 1024

  private var table = ConnectionTable()
  private var found = FindingTable()
  private var connections = ConnectionRules()
  private var losses = LossRules()
  private var resends = ResendRules()
  private var tokens = ProviderTokenRules()
  private var refusals = RefusalRules()
  private var notes = NoteRules()

  /// When something was last seen on a connection.
  private var latest: Moment?

  package init() {}

  /// A provider has connected.
  package mutating func opened(_ connection: SeenConnection, at moment: Moment) {
    latest = moment
    tokens.watchClock(moment)
    forget(table.open(connection, at: moment.instant))
    if connection.credential != nil { sawTLS(connection.number, at: moment) }
  }

  /// Whose an open connection is, once it has shown that.
  package mutating func identified(_ connection: UInt32, as credential: String) {
    guard let latest else { return }
    forget(table.identify(connection, as: credential, at: latest.instant))
    sawTLS(connection, at: latest)
  }

  /// Something has happened on a connection that is open.
  package mutating func saw(_ event: ConnectionEvent, on connection: UInt32, at moment: Moment) {
    guard let known = table.connections[connection] else { return }
    tokens.watchClock(moment)
    switch event {
    case .providerToken(let number, let team, let topic):
      tokens.shown(number, team: team, topic: topic, on: known, at: moment, in: &found)
    case .tokenNearItsEnd(_, let age):
      tokens.isOld(age, on: known, at: moment, in: &found)
    case .goAway(let fault):
      known.isDisturbed = true
      if known.goAway == nil { known.goAway = (moment.instant, fault) }
    case .droppedAboveGoAway(let push):
      dropped(push, on: known, at: moment)
    case .streamLimitViolated: found.add(Occurrence(.streamLimitIgnored, from: known.origin, at: moment))
    case .otherEnvironment: found.add(Occurrence(.wrongEnvironment, from: known.origin, at: moment))
    case .errorPacket(_, let identifier, let fault): rejected(identifier, fault: fault, known, at: moment)
    case .acceptedBeforeError(let push):
      resends.accepted(push, on: connection)
    case .discardedBehindError(let push):
      discarded(push, on: connection, known, at: moment)
    case .discardedUnseen(let count):
      losses.loseUnseen(
        count, .lostAfterError, from: known.origin, fault: known.errorPacket?.fault, at: moment)
    case .replacedWhileOffline(let push):
      NoteRules.replaced(push, from: known.origin, at: moment, in: &found)
    }
  }

  private mutating func rejected(
    _ identifier: UInt32, fault: String?, _ known: KnownConnection, at moment: Moment
  ) {
    known.isDisturbed = true
    known.errorPacket = (moment.instant, fault)
    resends.errorPacket(from: known.origin, fault: fault, at: moment)
    guard let token = refusals.told(of: identifier, on: known, in: &found) else { return }
    losses.drop(token, of: known.provider, in: &found)
  }

  private mutating func discarded(
    _ push: LostPush, on connection: UInt32, _ known: KnownConnection, at moment: Moment
  ) {
    // A frame that is there to get an error packet need not come again.
    guard !push.isForNobody, !hasRefused(push, of: known.provider) else { return }
    resends.lost(push, on: connection)
    losses.lose(
      push, .lostAfterError, from: known.origin, fault: known.errorPacket?.fault, again: false, at: moment,
      in: &found)
  }

  /// Nothing more comes from there.
  package mutating func ended(_ connection: UInt32, _ end: SeenEnd, at moment: Moment) {
    sawTLS(connection, at: moment)
    guard let known = table.end(connection, at: moment.instant) else { return }
    let othersOpen = table.providers[known.provider]?.open ?? 0
    connections.ended(known, end, othersOpen: othersOpen, at: moment, in: &found)
    NoteRules.ended(known, end, at: moment, in: &found)
  }

  /// A push has its verdict.
  package mutating func saw(_ push: borrowing SeenPush, at moment: Moment) {
    pushes &+= 1
    let seen = LostPush(token: push.token, payload: push.payload)
    guard push.interface != .gateway || !seen.isForNobody else { return }
    var compared = ComparedPush(seen)
    let known = table.connections[push.connection]
    if losses.isLooking { losses.saw(&compared, from: known?.provider, in: &found) }
    guard let known else { return }
    if resends.isLooking {
      resends.saw(&compared, id: push.id, from: known.origin, at: moment, in: &found)
    }
    if push.fault != nil { known.isDisturbed = true }
    if push.rejection != nil || refusals.isLooking {
      refusals.saw(push, compared: &compared, on: known, at: moment, in: &found)
      if losses.isLooking, refusals.hasRefused(&compared, of: known.provider) {
        losses.drop(compared.token, of: known.provider, in: &found)
      }
      tokens.saw(push, on: known, at: moment, in: &found)
    }
    notes.saw(push, token: &compared, on: known, at: moment)
    FieldRules.saw(push, on: known, at: moment, in: &found)
  }

  /// Whether a push matters that is accepted and has nothing to remark: only while something lost is looked for, or a push that has just
  /// failed.
  package var looksAtAll: Bool { losses.isLooking || resends.isLooking || refusals.isLooking }

  /// Pushes that were accepted, had nothing to remark and were not looked at.
  package mutating func passed(_ count: UInt64) { pushes &+= count }

  /// The feedback service was read with a certificate, on its own connection.
  package mutating func feedbackRead(credential: String, peer: String, at moment: Moment) {
    notes.feedbackRead(credential, at: moment)
  }

  /// A push had a payload of which `explain` has something to say.
  package mutating func sawPayloadProblem(
    _ problem: PayloadProblem, push: UInt64, on connection: UInt32, at moment: Moment
  ) {
    guard let origin = table.connections[connection]?.origin else { return }
    NoteRules.sawProblem(problem, push: push, from: origin, at: moment, in: &found)
  }

  /// Told about once a second, and before findings are asked for.
  package mutating func timePassed(_ moment: Moment) {
    latest = moment
    tokens.watchClock(moment)
    refusals.timePassed(moment)
    resends.timePassed(moment)
    let providers = table.providers
    losses.timePassed(
      moment, isGone: { providers[$0]?.isGone(for: LossRules.absence, at: moment.instant) ?? true },
      in: &found)
    notes.timePassed(
      moment, hasEnded: { providers[$0]?.isGone(for: NoteRules.end, at: moment.instant) ?? true }, in: &found)
  }

  /// The providers have ended: what has not been sent again by now never will be.
  package mutating func nothingMoreComes(_ moment: Moment) {
    losses.nothingMoreComes(in: &found)
    notes.timePassed(moment, hasEnded: { _ in true }, in: &found)
  }

  /// Findings that are new, or worse, since this was asked last: for the event stream.
  package mutating func takeNews() -> [Finding] { found.takeNews(table.providers) }

  /// Forgets all findings and counts; connections stay known.
  package mutating func clear() {
    pushes = 0
    found.clear()
    connections.clear()
    losses.clear()
    resends.clear()
    refusals.clear()
    notes.clear()
    table.clearHabits()
  }

  /// The worst first.
  package func findings() -> [Finding] { found.findings(table.providers) }

  private mutating func dropped(_ push: LostPush, on connection: KnownConnection, at moment: Moment) {
    ConnectionRules.dropped(connection, at: moment, in: &found)
    let age = connection.goAway.map { moment.instant.nanoseconds(since: $0.at) } ?? 0
    let isLate = age >= ConnectionRules.goAwayGrace
    if !push.token.isEmpty {
      guard !hasRefused(push, of: connection.provider) else { return }
      losses.lose(
        push, .lostAtGoAway, from: connection.origin, fault: connection.goAway?.fault, again: isLate,
        at: moment, in: &found)
    } else if !isLate {
      // Of a late one nobody knows whether it is one of the others, sent again in vain.
      losses.loseUnseen(
        1, .lostAtGoAway, from: connection.origin, fault: connection.goAway?.fault, at: moment)
    }
  }

  /// Whether the provider was told that the push's token is bad or gone, so that it is right not to send it again.
  private func hasRefused(_ push: LostPush, of provider: ProviderID) -> Bool {
    var compared = ComparedPush(push)
    return refusals.hasRefused(&compared, of: provider)
  }

  private mutating func sawTLS(_ number: UInt32, at moment: Moment) {
    guard let known = table.connections[number] else { return }
    NoteRules.sawTLS(known, at: moment, in: &found)
  }

  private mutating func forget(_ provider: ProviderID?) {
    guard let provider else { return }
    found.forget(provider)
    connections.forget(provider)
    losses.forget(provider)
    resends.forget(provider)
    notes.forget(provider)
  }
}
