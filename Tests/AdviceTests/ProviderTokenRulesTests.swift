import Testing

import Advice

@Suite struct ProviderTokenRulesTests {
  /// Shows tokens one after the other, so many seconds apart, each for a topic.
  private func show(
    _ tokens: [(number: UInt32, topic: UInt32)], every pause: Double, on connection: UInt32,
    in play: ProviderPlay
  ) {
    for token in tokens {
      play.happens(
        .providerToken(number: token.number, team: "TEAM", topic: token.topic), on: connection)
      play.wait(pause)
    }
  }

  @Test func `The third token within 20 minutes is one too many`() {
    let play = ProviderPlay()
    let connection = play.connect()
    show([(1, 1), (2, 1)], every: 1, on: connection, in: play)
    #expect(play.rules == [])
    show([(3, 1), (4, 1)], every: 1, on: connection, in: play)
    let finding = play.found(.tokenRenewedTooOften)
    #expect(finding?.severity == .error)
    #expect(finding?.count == 4)
    #expect(finding?.sentence.contains("1.00 s") == true)
    #expect(play.rules == ["token-renewed-too-often"])
  }

  @Test func `A token every 20 minutes is what Apple asks for`() {
    let play = ProviderPlay()
    let connection = play.connect()
    show((1...20).map { ($0, 1) }, every: 20 * 60, on: connection, in: play)
    #expect(play.rules == [])
  }

  @Test func `Two tokens in turn are no renewal`() {
    let play = ProviderPlay()
    let connection = play.connect()
    show((0..<50).map { (1 + $0 % 2, 1) }, every: 1, on: connection, in: play)
    #expect(play.rules == [])
  }

  @Test func `A clock that a test sets makes no renewal late or early`() {
    let play = ProviderPlay()
    let connection = play.connect()
    for number in 1...5 {
      play.happens(.providerToken(number: UInt32(number), team: "TEAM", topic: 1), on: connection)
      play.clockSetBy += 3600 * 1_000_000_000
      play.wait(1)
    }
    #expect(play.found(.tokenRenewedTooOften)?.count == 5)
  }

  @Test func `A token that was refused has to be replaced`() {
    let play = ProviderPlay()
    let connection = play.connect()
    for number in 1...4 {
      play.happens(.providerToken(number: UInt32(number), team: "TEAM", topic: 1), on: connection)
      play.push(
        on: connection, token: number, refused: .expiredProviderToken, fault: "expired")
    }
    #expect(play.rules == [])
  }

  @Test func `A new token after TooManyProviderTokenUpdates is one more`() {
    let play = ProviderPlay()
    let connection = play.connect()
    for number in 1...4 {
      play.happens(.providerToken(number: UInt32(number), team: "TEAM", topic: 1), on: connection)
      play.push(
        on: connection, token: number, refused: .tooManyProviderTokenUpdates, fault: "renewals")
    }
    #expect(play.found(.tokenRenewedTooOften) != nil)
  }

  @Test func `A token for each topic`() {
    let play = ProviderPlay()
    let connection = play.connect()
    show([(1, 1), (2, 2)], every: 1, on: connection, in: play)
    #expect(play.rules == [])
    show([(3, 3)], every: 1, on: connection, in: play)
    #expect(play.found(.tokenPerTopic)?.severity == .warning)
    #expect(play.rules == ["token-per-topic"])
  }

  @Test func `Where a topic comes again, all tokens so far were too many`() {
    let play = ProviderPlay()
    let connection = play.connect()
    show([(1, 1), (2, 2), (3, 3), (4, 1)], every: 1, on: connection, in: play)
    #expect(play.found(.tokenPerTopic)?.count == 3)
    #expect(play.found(.tokenRenewedTooOften)?.count == 4)
    #expect(
      play.found(.tokenRenewedTooOften)?.sentence.hasPrefix("4 provider tokens came on 1 connection") == true)
  }

  @Test func `A token every nine minutes is counted once`() {
    let play = ProviderPlay()
    let connection = play.connect()
    show((1...10).map { ($0, 1) }, every: 9 * 60, on: connection, in: play)
    #expect(play.found(.tokenRenewedTooOften)?.count == 10)
  }

  @Test func `Two teams on a connection each have their tokens`() {
    let play = ProviderPlay()
    let connection = play.connect()
    for (number, team) in [(1, "A"), (2, "B"), (3, "A"), (4, "B")] {
      play.happens(.providerToken(number: UInt32(number), team: team, topic: 1), on: connection)
    }
    #expect(play.rules == [])
  }

  @Test func `A token that is used until its end`() {
    let play = ProviderPlay()
    let connection = play.connect()
    play.happens(.tokenNearItsEnd(number: 1, age: 57 * 60), on: connection)
    #expect(play.found(.tokenNearItsEnd)?.severity == .note)
    #expect(
      play.found(.tokenNearItsEnd)?.sentence
        == "A provider token was still used at an age of up to 57 minutes, 1 time.")
    play.push(on: connection, refused: .expiredProviderToken)
    #expect(play.found(.tokenNearItsEnd)?.severity == .warning)
    #expect(
      play.found(.tokenNearItsEnd)?.sentence
        == "A provider token was still used at an age of up to 60 minutes, 2 times.")
  }

  @Test func `Nobody is called late by a clock that was set, or by a fault`() {
    let play = ProviderPlay()
    let connection = play.connect()
    play.push(on: connection, refused: .expiredProviderToken, fault: "expired")
    #expect(play.rules == [])
    play.clockSetBy = 57 * 60 * 1_000_000_000
    play.happens(.tokenNearItsEnd(number: 1, age: 57 * 60), on: connection)
    play.push(on: connection, refused: .expiredProviderToken)
    #expect(play.rules == [])
  }
}
