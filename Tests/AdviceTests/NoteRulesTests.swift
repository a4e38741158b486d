import Testing

import Advice

@Suite struct NoteRulesTests {
  /// The gateway takes them, and says so to readers of the feedback; a bridge is refused.
  private func pushToGone(
    _ tokens: [Int], on connection: UInt32, in play: ProviderPlay, fault: String? = nil,
    isRefused: Bool = false
  ) {
    for token in tokens {
      play.push(
        on: connection, .gateway, token: token, refused: isRefused ? .unregistered : nil, fault: fault
      ) {
        $0.isForGoneApp = !isRefused
      }
      play.wait(0.5)
    }
  }

  @Test(arguments: [false, true])
  func `Three tokens of removed apps, and no look at the feedback`(_ isRefused: Bool) {
    let play = ProviderPlay()
    let connection = play.connect(.gateway)
    pushToGone([1, 2, 3], on: connection, in: play, isRefused: isRefused)
    play.rest(70)
    #expect(play.rules == [])
    play.end(connection, pushes: 3)
    play.rest(59)
    #expect(play.rules == [])
    play.rest(1)
    let finding = play.found(.feedbackNotRead)
    #expect(finding?.severity == .note)
    #expect(finding?.count == 3)
    #expect(finding?.examples == [1, 2, 3])
    #expect(play.rules == ["feedback-not-read"])
  }

  @Test func `It is a warning where the same tokens come again`() {
    let play = ProviderPlay()
    let connection = play.connect(.gateway)
    pushToGone([1, 2, 3, 1], on: connection, in: play)
    play.adviser.nothingMoreComes(play.moment)
    #expect(play.found(.feedbackNotRead)?.severity == .warning)
    #expect(play.found(.feedbackNotRead)?.count == 4)
  }

  @Test func `It is a warning after a day`() {
    let play = ProviderPlay()
    let connection = play.connect(.gateway)
    pushToGone([1, 2, 3], on: connection, in: play)
    play.wait(24 * 3600 - 10)
    play.adviser.timePassed(play.moment)
    #expect(play.rules == [])
    play.rest(10)
    #expect(play.found(.feedbackNotRead)?.severity == .warning)
  }

  @Test(arguments: [0, 1])
  func `Who reads the feedback before or behind the pushes is a good provider`(_ when: Int) {
    let play = ProviderPlay()
    func read() {
      play.adviser.feedbackRead(
        credential: ProviderPlay.certificate, peer: "127.0.0.1", at: play.moment)
    }
    if when == 0 { read() }
    let connection = play.connect(.gateway)
    pushToGone([1, 2, 3], on: connection, in: play)
    play.end(connection, pushes: 3)
    play.rest(30)
    if when == 1 { read() }
    play.rest(60)
    play.adviser.nothingMoreComes(play.moment)
    #expect(play.rules == [])
  }

  @Test func `Two tokens, or what a fault refused, prove nothing`() {
    let play = ProviderPlay()
    let connection = play.connect(.gateway)
    pushToGone([1, 2], on: connection, in: play)
    pushToGone([3, 4, 5], on: connection, in: play, fault: "gone")
    play.adviser.nothingMoreComes(play.moment)
    #expect(play.rules == [])
  }

  @Test(arguments: [
    ("TLSv1", true), ("TLSv1.1", true), ("SSLv3", true), ("TLSv1.2", false), ("TLSv1.3", false),
  ])
  func `TLS before 1.2`(_ version: String, _ isOld: Bool) {
    let play = ProviderPlay()
    let connection = play.connect(.gateway, tls: version)
    play.end(connection)
    #expect(play.found(.oldTLS)?.severity == (isOld ? .note : nil))
    #expect(play.found(.oldTLS)?.count == (isOld ? 1 : nil))
  }

  @Test func `Who it is about is known when the first token is shown`() {
    let play = ProviderPlay()
    let connection = play.connect(credential: nil, tls: "TLSv1.1")
    #expect(play.rules == [])
    play.adviser.identified(connection, as: "provider tokens of team TEAM")
    #expect(play.found(.oldTLS)?.provider.credential == "provider tokens of team TEAM")
    #expect(play.adviser.findings().count == 1)
  }

  @Test func `An error packet that lay unread`() {
    let play = ProviderPlay()
    for leftUnread in [false, true] {
      let connection = play.connect(.gateway)
      play.happens(.errorPacket(status: 8, identifier: 1, fault: nil), on: connection)
      var end = SeenEnd()
      end.leftPacketUnread = leftUnread
      play.adviser.ended(connection, end, at: play.moment)
    }
    #expect(play.found(.errorPacketNotRead)?.severity == .note)
    #expect(play.found(.errorPacketNotRead)?.count == 1)
  }

  @Test func `Notifications that newer ones replaced`() {
    let play = ProviderPlay()
    let connection = play.connect()
    play.happens(.replacedWhileOffline(push: 1), on: connection)
    #expect(
      play.found(.replacedWhileOffline)?.sentence
        == "1 notification, stored for a phone that is offline, was replaced by a newer one.")
    for push in 2...4 { play.happens(.replacedWhileOffline(push: UInt64(push)), on: connection) }
    #expect(
      play.found(.replacedWhileOffline)?.sentence
        == "4 notifications, stored for phones that are offline, were replaced by newer ones.")
    #expect(play.found(.replacedWhileOffline)?.count == 4)
    #expect(play.found(.replacedWhileOffline)?.severity == .note)
  }

  @Test func `What explain finds, once a kind`() {
    let play = ProviderPlay()
    let connection = play.connect()
    func problem(_ kind: String, _ severity: Severity) {
      play.adviser.sawPayloadProblem(
        PayloadProblem(
          kind: kind, severity: severity, sentence: "a \(kind) that is wrong.", remedy: "Mend \(kind)."),
        push: 7, on: connection, at: play.moment)
    }
    for _ in 1...3 { problem("badge", .warning) }
    problem("sound", .error)
    let findings = play.adviser.findings()
    #expect(findings.map(\.severity) == [.error, .warning])
    #expect(findings.map(\.count) == [1, 3])
    #expect(findings.map(\.remedy) == ["Mend sound.", "Mend badge."])
    #expect(
      findings.map(\.sentence) == [
        "1 of the payloads looked at has this problem: a sound that is wrong.",
        "3 of the payloads looked at have this problem: a badge that is wrong.",
      ])
  }
}
