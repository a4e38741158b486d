import PushModel
import Testing

import Advice

@Suite struct AdviserTests {
  @Test func `Nothing seen, nothing found`() {
    let adviser = Adviser()
    #expect(adviser.findings().isEmpty)
  }

  @Test func `A good provider of HTTP/2 hears nothing`() {
    let play = ProviderPlay()
    let connection = play.connect(credential: nil)
    play.adviser.identified(connection, as: "provider tokens of team TEAM")
    play.happens(.providerToken(number: 1, team: "TEAM", topic: 1), on: connection)
    for token in 1...1000 {
      play.push(on: connection, token: token, refused: token % 100 == 0 ? .unregistered : nil)
      play.wait(0.001)
    }
    play.happens(.goAway(fault: "going"), on: connection)
    for token in 1001...1020 { play.lost(.droppedAboveGoAway, on: connection, token: token) }
    let next = play.connect(credential: nil)
    play.adviser.identified(next, as: "provider tokens of team TEAM")
    play.happens(.providerToken(number: 1, team: "TEAM", topic: 1), on: next)
    for token in 1001...1100 { play.push(on: next, token: token) }
    play.end(connection, pushes: 1020)
    play.rest(100)
    play.end(next, pushes: 100)
    play.adviser.nothingMoreComes(play.moment)
    #expect(play.rules == [])
    #expect(play.adviser.pushes == 1100)
  }

  @Test func `A good provider of the binary protocol hears nothing`() {
    let play = ProviderPlay()
    var connection = play.connect(.gateway)
    for token in 1...100 where token % 10 != 0 { play.push(on: connection, .gateway, token: token) }
    for bad in stride(from: 10, through: 90, by: 10) {
      play.push(on: connection, .gateway, token: bad, refused: .unregistered)
      play.errorPacket(on: connection, discarding: (bad + 1)...(bad + 9))
      for token in max(1, bad - 9)..<bad {
        play.lost(.acceptedBeforeError, on: connection, token: token)
      }
      play.end(connection, pushes: 20)
      play.wait(0.01)
      connection = play.connect(.gateway)
      for token in (bad + 1)...(bad + 9) { play.push(on: connection, .gateway, token: token) }
    }
    play.end(connection, pushes: 10)
    play.adviser.feedbackRead(credential: ProviderPlay.certificate, peer: "127.0.0.1", at: play.moment)
    play.rest(70)
    play.adviser.nothingMoreComes(play.moment)
    #expect(play.rules == [])
  }

  @Test func `The worst comes first, then what happened most`() {
    let play = ProviderPlay()
    let connection = play.connect()
    for _ in 1...2 { play.push(on: connection) { $0.expiration = 0 } }
    for _ in 1...3 { play.push(on: connection) { ($0.pushType, $0.priority) = (.background, .immediate) } }
    for _ in 1...5 { play.push(on: connection) { $0.pushType = nil } }
    play.happens(.streamLimitViolated, on: connection)
    #expect(
      play.adviser.findings().map(\.rule) == [
        .streamLimitIgnored, .noPushType, .backgroundAtPriority10, .expiresAtOnce,
      ])
  }

  @Test func `A finding has its times, its first three pushes and its connections`() {
    let play = ProviderPlay()
    let first = play.moment.time
    for _ in 1...2 {
      let connection = play.connect()
      for _ in 1...1000 { play.push(on: connection) { $0.pushType = nil } }
      play.wait(1)
    }
    let finding = play.found(.noPushType)
    #expect(finding?.first == first)
    #expect(finding?.last == first.adding(nanoseconds: 1_000_000_000))
    #expect(finding?.examples == [1, 2, 3])
    #expect(finding?.connections == 2)
    #expect(finding?.sentence == "2,000 pushes had no apns-push-type.")
    #expect(finding?.provider.interface == .provider)
    #expect(finding?.provider.peer == "127.0.0.1")
  }

  @Test func `News are what is new or worse, not each count`() {
    let play = ProviderPlay()
    let connection = play.connect()
    #expect(play.adviser.takeNews().isEmpty)
    for time in 1...5 {
      play.push(on: connection, token: 1, payload: time, refused: .unregistered)
      play.wait(1)
      let expected: [Severity] = time == 2 ? [.warning] : time == 4 ? [.error] : []
      #expect(play.adviser.takeNews().map(\.severity) == expected)
    }
    play.adviser.clear()
    #expect(play.adviser.takeNews().isEmpty)
  }

  @Test func `Reset forgets findings and counts, and keeps connections`() {
    let play = ProviderPlay()
    let connection = play.connect()
    play.push(on: connection) { $0.pushType = nil }
    play.adviser.passed(41)
    #expect(play.adviser.pushes == 42)
    play.adviser.clear()
    #expect(play.adviser.pushes == 0)
    #expect(play.rules == [])
    play.push(on: connection) { $0.pushType = nil }
    #expect(play.found(.noPushType)?.count == 1)
    #expect(play.found(.noPushType)?.provider.credential == ProviderPlay.certificate)
  }
}
