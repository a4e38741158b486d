import Basics
import NATSWire
import Testing

import Zones

/// A lease whose clock is set by hand.
private struct Rig {
  var lease: ZoneLease
  var now = Instant(nanoseconds: 0)

  init(_ change: (inout ZoneLease.Terms) -> Void = { _ in }) {
    var terms = ZoneLease.Terms()
    change(&terms)
    lease = ZoneLease(node: "a", stream: madeAt, terms: terms, now: now)
  }

  mutating func wait(_ seconds: Double) -> [ZoneLease.Action] {
    now = now.adding(nanoseconds: Int64(seconds * 1e9))
    return lease.tick(now)
  }

  mutating func appended(_ answer: Result<UInt64, JetStreamFailure>) -> [ZoneLease.Action] {
    lease.appended(answer, now: now)
  }

  mutating func readBack(_ answer: Result<JetStreamRecord, JetStreamFailure>) -> [ZoneLease.Action] {
    lease.readBack(answer, now: now)
  }

  mutating func flush() -> [ZoneLease.Action] { lease.flush(now) }

  /// The zone of a new log is ours.
  static func leading(_ change: (inout ZoneLease.Terms) -> Void = { _ in }) -> Rig {
    var rig = Rig(change)
    _ = rig.wait(3)
    _ = rig.appended(.success(1))
    return rig
  }

  static func append(_ number: UInt64, _ body: ZoneRecord.Body, epoch: UInt64 = 1, behind: UInt64)
    -> ZoneLease.Action
  {
    .append(
      ZoneRecord(epoch: epoch, number: number, node: "a", stream: madeAt, body: body).encoded, behind: behind)
  }
}

@Suite struct ZoneLeaseTests {
  // MARK: What nobody of the cluster has written

  @Test func writesBehindWhatNobodyOfTheClusterHasWritten() {
    var rig = Rig.leading()
    let turn = rig.lease.add([7])
    #expect(rig.flush() == [Rig.append(1, .changes([7]), behind: 1)])
    #expect(rig.appended(.failure(.wrongLastSequence(3))) == [.readBack(2)])
    #expect(rig.readBack(.failure(.alien(isSealed: false))) == [Rig.append(1, .changes([7]), behind: 2)])
    #expect(rig.appended(.failure(.wrongLastSequence(3))) == [.readBack(3)])
    #expect(rig.readBack(.failure(.alien(isSealed: true))) == [Rig.append(1, .changes([7]), behind: 3)])
    #expect(rig.appended(.success(4)) == turn.map { [.confirm(turns: $0...$0)] })
    #expect(rig.lease.role == .leading && rig.lease.last == 4)
  }

  @Test func whatNobodyOfTheClusterHasWrittenIsNoSignOfItsOwner() {
    var rig = Rig()
    #expect(rig.lease.see(record(1, epoch: 1, 0, by: "b", .epoch), now: rig.now) == [])
    #expect(rig.wait(2) == [])
    rig.lease.passOver(2)
    #expect(rig.wait(1) == [Rig.append(0, .epoch, epoch: 2, behind: 2)])
    // One more, while ours is on its way.
    rig.lease.passOver(3)
    #expect(rig.appended(.failure(.wrongLastSequence(3))) == [.readBack(3)])
    #expect(rig.readBack(.failure(.alien(isSealed: false))) == [Rig.append(0, .epoch, epoch: 2, behind: 3)])
    #expect(rig.appended(.success(4)) == [.begin(epoch: 2)])
  }

  /// Without a secret NATS gives it like any other.
  @Test func whatIsNoRecordIsPassedOverAndNamed() {
    var rig = Rig()
    let garbage = { JetStreamRecord(sequence: $0, payload: Array("hello".utf8)) }
    #expect(rig.lease.see(record(1, epoch: 1, 0, by: "b", .epoch), now: rig.now) == [])
    #expect(rig.wait(2) == [])
    // No sign of the leader, who is silent for three seconds in all.
    #expect(rig.lease.see(garbage(2), now: rig.now) == [.passedOver(2)])
    #expect(rig.wait(1) == [Rig.append(0, .epoch, epoch: 2, behind: 2)])
    #expect(rig.appended(.failure(.wrongLastSequence(3))) == [.readBack(3)])
    #expect(
      rig.readBack(.success(garbage(3))) == [.passedOver(3), Rig.append(0, .epoch, epoch: 2, behind: 3)])
    #expect(rig.appended(.success(4)) == [.begin(epoch: 2)])
  }

  @Test func aRecordThatCantBeThereIsNamedNotTakenForANewOwner() {
    var rig = Rig()
    #expect(rig.lease.see(record(1, epoch: 1, 0, by: "b", .epoch), now: rig.now) == [])
    let stale = record(2, epoch: 1, 0, by: "b", .epoch)
    guard case .damaged(_, 2)? = rig.lease.see(stale, now: rig.now).first else {
      Issue.record("the record was taken")
      return
    }
    // One of a version to come is no garbage.
    var other = Rig()
    let newer = JetStreamRecord(sequence: 1, payload: [2, 3])
    guard case .damaged(let why, 1)? = other.lease.see(newer, now: other.now).first else {
      Issue.record("the record was taken")
      return
    }
    #expect(why.contains("newer version"))
  }

  /// A number that can be next, in the leader's own name: nobody has taken the zone over.
  @Test(arguments: [true, false])
  func aRecordInItsNameIsDamageNotAnotherOwner(isLeaving: Bool) {
    var rig = Rig.leading()
    _ = rig.lease.add([7])
    if isLeaving { rig.lease.handOver(to: "b") }
    _ = rig.flush()
    _ = rig.appended(.failure(.wrongLastSequence(2)))
    let actions = rig.readBack(.success(record(2, epoch: 1, 1, .changes([0xff]))))
    guard case .damaged(let why, 2)? = actions.first, case .stopped = rig.lease.role else {
      Issue.record("\(actions)")
      return
    }
    #expect(why.contains("in this node's name"))
  }

  // MARK: Following

  @Test func takesAZoneWhoseOwnerIsSilent() {
    var rig = Rig()
    #expect(rig.wait(2.9) == [])
    #expect(rig.lease.see(record(1, epoch: 1, 0, by: "b", .epoch), now: rig.now) == [])
    #expect(rig.lease.see(record(2, epoch: 1, 1, by: "b", .changes([7])), now: rig.now) == [.apply([7])])
    #expect(rig.wait(2.9) == [])
    #expect(rig.lease.role == .following)
    #expect(rig.wait(0.1) == [Rig.append(0, .epoch, epoch: 2, behind: 2)])
    #expect(rig.lease.role == .claiming && rig.lease.epoch == 1)
    #expect(rig.appended(.success(3)) == [.begin(epoch: 2)])
    #expect(rig.lease.role == .leading && rig.lease.epoch == 2)
  }

  @Test func countsNoSilenceWhileNATSIsUnreachable() {
    var rig = Rig()
    #expect(rig.wait(2.9) == [])
    rig.lease.noteGap(now: rig.now)
    #expect(rig.wait(2.9) == [])
    #expect(rig.wait(0.1).count == 1)
  }

  @Test func leavesAZoneToOthersIfItIsToldSo() {
    var rig = Rig()
    rig.now = rig.now.adding(nanoseconds: 60_000_000_000)
    #expect(rig.lease.tick(rig.now, mayClaim: false) == [])
    #expect(rig.lease.role == .following)
  }

  @Test func stopsAtADamagedLog() {
    var rig = Rig()
    let actions = rig.lease.see(record(1, epoch: 5, 0, by: "b", .epoch), now: rig.now)
    guard case .damaged(_, 1)? = actions.first, case .stopped = rig.lease.role else {
      Issue.record("\(actions)")
      return
    }
    #expect(rig.wait(60) == [])
  }

  // MARK: Claiming

  @Test func leavesTheZoneToWhoWasFirst() {
    var rig = Rig()
    _ = rig.wait(3)
    #expect(rig.appended(.failure(.wrongLastSequence(1))) == [.readBack(1)])
    #expect(rig.readBack(.success(record(1, epoch: 1, 0, by: "b", .epoch))) == [])
    #expect(rig.lease.role == .following)
    // And counts its silence again.
    #expect(rig.wait(2.9) == [])
    #expect(rig.wait(0.1).count == 1)
  }

  @Test func knowsItsOwnRecordWhoseAnswerWasLost() {
    var rig = Rig()
    let actions = rig.wait(3)
    #expect(rig.appended(.failure(.late)) == [])
    #expect(rig.wait(0.02) == actions)
    #expect(rig.appended(.failure(.wrongLastSequence(1))) == [.readBack(1)])
    #expect(rig.readBack(.success(record(1, epoch: 1, 0, .epoch))) == [.begin(epoch: 1)])
  }

  /// Why an append was not taken says nothing of what follows it.
  @Test func troubleEndsWithALostClaim() {
    var rig = Rig()
    _ = rig.wait(3)
    _ = rig.appended(.failure(.nobodyListens))
    #expect(rig.lease.trouble == .nobodyListens)
    _ = rig.wait(1)
    _ = rig.appended(.failure(.wrongLastSequence(1)))
    #expect(rig.readBack(.success(record(1, epoch: 1, 0, by: "b", .epoch))) == [])
    #expect(rig.lease.role == .following && rig.lease.trouble == nil)
  }

  // MARK: Owning

  @Test func appendsOneAtATimeAndConfirmsWhatIsThere() {
    var rig = Rig.leading()
    #expect(rig.flush() == [])
    #expect(rig.lease.add([1]) == 1)
    #expect(rig.flush() == [Rig.append(1, .changes([1]), behind: 1)])
    #expect(rig.lease.add([2]) == 2)
    #expect(rig.lease.add([3]) == 3)
    #expect(rig.flush() == [])
    #expect(rig.appended(.success(2)) == [.confirm(turns: 1...1)])
    #expect(rig.flush() == [Rig.append(2, .changes([2, 3]), behind: 2)])
    // Others may have purged, or NATS left numbers out: what it says counts.
    #expect(rig.appended(.success(9)) == [.confirm(turns: 2...3)])
    _ = rig.lease.add([4])
    #expect(rig.flush() == [Rig.append(3, .changes([4]), behind: 9)])
  }

  @Test func cutsWhatIsTooLarge() {
    var rig = Rig.leading { $0.recordLimit = ZoneRecord.overhead + 2 }
    #expect(rig.lease.add([1, 2, 3, 4, 5]) == 1)
    #expect(rig.flush() == [Rig.append(1, .piece([1, 2]), behind: 1)])
    #expect(rig.lease.add([6]) == 2)
    #expect(rig.appended(.success(2)) == [])
    #expect(rig.flush() == [Rig.append(2, .piece([3, 4]), behind: 2)])
    #expect(rig.appended(.success(3)) == [])
    #expect(rig.flush() == [Rig.append(3, .changes([5]), behind: 3)])
    #expect(rig.appended(.success(4)) == [.confirm(turns: 1...1)])
    #expect(rig.flush() == [Rig.append(4, .changes([6]), behind: 4)])
  }

  @Test func cutsNothingThatJustFits() {
    var rig = Rig.leading { $0.recordLimit = ZoneRecord.overhead + 2 }
    _ = rig.lease.add([1, 2])
    #expect(rig.flush() == [Rig.append(1, .changes([1, 2]), behind: 1)])
    #expect(rig.appended(.success(2)) == [.confirm(turns: 1...1)])
  }

  @Test func passesOverARecordThatComesAgain() {
    var rig = Rig()
    let first = record(1, epoch: 1, 0, by: "b", .epoch)
    #expect(rig.lease.see(first, now: rig.now) == [])
    #expect(rig.lease.see(first, now: rig.now) == [])
    #expect(rig.lease.see(record(2, epoch: 1, 1, by: "b", .changes([7])), now: rig.now) == [.apply([7])])
  }

  @Test func takesNoMoreThanItHasRoomFor() {
    var rig = Rig.leading { $0.queueLimit = 3 }
    #expect(rig.lease.add([1, 2, 3]) == 1)
    #expect(!rig.lease.hasRoom)
    #expect(rig.lease.add([4]) == nil)
    _ = rig.flush()
    #expect(rig.lease.hasRoom)
  }

  @Test func takesNothingForAZoneThatIsNotIts() {
    var rig = Rig()
    #expect(rig.lease.add([1]) == nil)
    #expect(rig.flush() == [])
  }

  @Test func saysThatItLives() {
    var rig = Rig.leading()
    #expect(rig.wait(0.9) == [])
    #expect(rig.wait(0.1) == [Rig.append(1, .heartbeat, behind: 1)])
    #expect(rig.appended(.success(2)) == [])
  }

  @Test func answersByItselfOnlyWhileNobodyElseCanOwnTheZone() {
    var rig = Rig()
    #expect(!rig.lease.mayAnswer(rig.now))
    _ = rig.wait(3)
    // Counted from the sending of the record, which others see later.
    rig.now = rig.now.adding(nanoseconds: 1_000_000_000)
    _ = rig.appended(.success(1))
    #expect(rig.lease.mayAnswer(rig.now.adding(nanoseconds: 1_499_999_999)))
    #expect(!rig.lease.mayAnswer(rig.now.adding(nanoseconds: 1_500_000_000)))
  }

  @Test func dropsAZoneThatSomebodyElseHasTaken() {
    var rig = Rig.leading()
    _ = rig.lease.add([1])
    _ = rig.flush()
    _ = rig.lease.add([2])
    #expect(rig.appended(.failure(.wrongLastSequence(5))) == [.readBack(2)])
    #expect(rig.readBack(.success(record(2, epoch: 2, 0, by: "b", .epoch))) == [.drop])
    #expect(rig.lease.role == .dropped)
    #expect(!rig.lease.mayAnswer(rig.now))
    #expect(rig.flush() == [] && rig.lease.add([3]) == nil && rig.wait(60) == [])
  }

  @Test func dropsAZoneWhoseNextRecordIsPurgedAlready() {
    var rig = Rig.leading()
    _ = rig.lease.add([1])
    _ = rig.flush()
    _ = rig.appended(.failure(.wrongLastSequence(50)))
    #expect(rig.readBack(.failure(.refused(code: 10037, words: "no message found"))) == [.drop])
  }

  @Test func sendsAgainWhatTheNATSServerDidNotTake() {
    var rig = Rig.leading()
    _ = rig.lease.add([1])
    let append = rig.flush()
    for pause in [0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1, 1] {
      #expect(rig.appended(.failure(.nobodyListens)) == [])
      #expect(rig.lease.trouble == .nobodyListens)
      #expect(rig.wait(pause - 0.001) == [])
      #expect(rig.wait(0.001) == append)
    }
    #expect(rig.appended(.success(2)) == [.confirm(turns: 1...1)])
    #expect(rig.lease.trouble == nil)
  }

  @Test func readsBackAgainWhatDidNotCome() {
    var rig = Rig.leading()
    _ = rig.lease.add([1])
    _ = rig.flush()
    _ = rig.appended(.failure(.wrongLastSequence(2)))
    #expect(rig.readBack(.failure(.late)) == [])
    #expect(rig.wait(0.02) == [.readBack(2)])
    #expect(rig.readBack(.success(record(2, epoch: 1, 1, .changes([1])))) == [.confirm(turns: 1...1)])
  }

  @Test func stopsWhenTheNATSServerHasLostRecords() {
    var rig = Rig.leading()
    _ = rig.lease.add([1])
    _ = rig.flush()
    let actions = rig.appended(.failure(.wrongLastSequence(0)))
    #expect(actions == [.stop("the NATS server has lost records: it is at 0, and had acknowledged 1")])
    #expect(rig.wait(60) == [] && rig.flush() == [])
  }

  @Test(arguments: [true, false])
  func stopsWhenTheLogIsAnotherOrGone(whileReadingBack: Bool) {
    var rig = Rig.leading()
    _ = rig.lease.add([1])
    _ = rig.flush()
    if whileReadingBack { _ = rig.appended(.failure(.wrongLastSequence(2))) }
    let why = "the stream was deleted"
    let actions =
      whileReadingBack ? rig.readBack(.failure(.unsuitable(why))) : rig.appended(.failure(.unsuitable(why)))
    #expect(actions == [.stop(why)])
  }

  @Test func ignoresAnswersThatItDoesNotAwait() {
    var rig = Rig.leading()
    #expect(rig.appended(.success(7)) == [])
    #expect(rig.readBack(.success(record(2, epoch: 2, 0, by: "b", .epoch))) == [])
    #expect(rig.lease.role == .leading)
  }

  // MARK: Handing over

  @Test func leavesWhenAllThatWasAddedIsWritten() {
    var rig = Rig.leading()
    _ = rig.lease.add([1])
    let first = rig.flush()
    _ = rig.lease.add([2])
    rig.lease.handOver(to: "b")
    #expect(rig.lease.add([3]) == nil && !rig.lease.mayAnswer(rig.now))
    #expect(first == [Rig.append(1, .changes([1]), behind: 1)] && rig.flush() == [])
    #expect(rig.appended(.success(2)) == [.confirm(turns: 1...1)])
    #expect(rig.flush() == [Rig.append(2, .changes([2]), behind: 2)])
    #expect(rig.appended(.success(3)) == [.confirm(turns: 2...2)])
    #expect(rig.flush() == [Rig.append(3, .handover(to: "b"), behind: 3)])
    #expect(rig.appended(.success(4)) == [.left(to: "b")])
    #expect(rig.lease.role == .following)
    // What it wrote itself comes by the delivery too.
    #expect(rig.lease.see(record(3, epoch: 1, 2, .changes([2])), now: rig.now) == [])
    #expect(rig.lease.see(record(5, epoch: 2, 0, by: "b", .epoch), now: rig.now) == [])
    #expect(rig.lease.see(record(6, epoch: 2, 1, by: "b", .changes([9])), now: rig.now) == [.apply([9])])
  }

  @Test func takesAtOnceWhatWasLeftToIt() {
    var rig = Rig()
    for entry in [
      record(1, epoch: 1, 0, by: "b", .epoch), record(2, epoch: 1, 1, by: "b", .handover(to: "a")),
    ] { #expect(rig.lease.see(entry, now: rig.now) == []) }
    // Not before the end of the log is known.
    #expect(rig.wait(0) == [])
    rig.lease.noteCaughtUp()
    #expect(rig.wait(0) == [Rig.append(0, .epoch, epoch: 2, behind: 2)])
  }

  @Test func aStandstillOfTheNATSServerIsNoSilenceAndNoGap() {
    var rig = Rig()
    _ = rig.lease.see(record(1, epoch: 1, 0, by: "b", .epoch), now: rig.now)
    rig.lease.noteCaughtUp()
    #expect(rig.wait(2.9) == [])
    rig.lease.noteStandstill(now: rig.now)
    #expect(rig.lease.isCaughtUp && rig.wait(2.9) == [])
    #expect(rig.wait(0.1).count == 1)
  }

  @Test func waitsForSilenceWhereAnotherWasToTakeIt() {
    var rig = Rig()
    _ = rig.lease.see(record(1, epoch: 1, 0, by: "b", .epoch), now: rig.now)
    _ = rig.lease.see(record(2, epoch: 1, 1, by: "b", .handover(to: "c")), now: rig.now)
    rig.lease.noteCaughtUp()
    #expect(rig.wait(2.9) == [])
    #expect(rig.wait(0.1) == [Rig.append(0, .epoch, epoch: 2, behind: 2)])
  }

  @Test(arguments: [true, false])
  func takesANewLogAndItsOwnOfItsLastLifeAtOnce(isNew: Bool) {
    var rig = Rig()
    if !isNew { _ = rig.lease.see(record(1, epoch: 1, 0, by: "a", .epoch), now: rig.now) }
    rig.lease.noteCaughtUp()
    #expect(rig.wait(0).count == 1)
    #expect(rig.lease.role == .claiming)
  }

  @Test func dropsWhatItWasLeavingWhenSomebodyElseHasIt() {
    var rig = Rig.leading()
    rig.lease.handOver(to: "b")
    _ = rig.flush()
    _ = rig.appended(.failure(.wrongLastSequence(2)))
    #expect(rig.readBack(.success(record(2, epoch: 2, 0, by: "c", .epoch))) == [.drop])
  }
}
