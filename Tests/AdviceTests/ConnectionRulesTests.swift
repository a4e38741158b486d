import Testing

import Advice

@Suite struct ConnectionRulesTests {
  /// Connections one after the other, with so many pushes each.
  private func connections(_ count: Int, pushes: Int, every pause: Double, in play: ProviderPlay) {
    for _ in 0..<count {
      let connection = play.connect()
      for _ in 0..<pushes { play.push(on: connection) }
      play.wait(pause)
      play.end(connection, pushes: pushes)
    }
  }

  @Test func `Ten connections with one push each within a minute are a habit`() {
    let play = ProviderPlay()
    connections(9, pushes: 1, every: 1, in: play)
    #expect(play.rules == [])
    connections(3, pushes: 1, every: 1, in: play)
    let finding = play.found(.connectionPerPush)
    #expect(finding?.severity == .warning)
    #expect(finding?.count == 12)
    #expect(finding?.connections == 12)
    #expect(finding?.sentence.contains("12 connections") == true)
    #expect(play.rules == ["connection-per-push"])
  }

  @Test func `A hundred of them are what Apple takes for an attack`() {
    let play = ProviderPlay()
    connections(99, pushes: 1, every: 0.5, in: play)
    #expect(play.found(.connectionPerPush)?.severity == .warning)
    connections(1, pushes: 1, every: 0.5, in: play)
    #expect(play.found(.connectionPerPush)?.severity == .error)
  }

  @Test func `Connections that carry two pushes, or come slowly, are no habit`() {
    let play = ProviderPlay()
    connections(50, pushes: 2, every: 1, in: play)
    connections(50, pushes: 1, every: 7, in: play)
    #expect(play.rules == [])
  }

  @Test func `Connections side by side are a pool, not one after the other`() {
    let play = ProviderPlay()
    let pool = (0..<40).map { _ in play.connect() }
    for connection in pool { play.push(on: connection) }
    for connection in pool { play.end(connection, pushes: 1) }
    #expect(!play.rules.contains("reconnect-storm"))
    #expect(play.found(.connectionPerPush) == nil)
  }

  @Test func `A connection that we ended is not held against the provider`() {
    let play = ProviderPlay()
    for _ in 0..<50 {
      let connection = play.connect(.gateway)
      play.push(on: connection, .gateway, token: Int(play.pushes), refused: .badDeviceToken)
      play.happens(.errorPacket(status: 8, identifier: 1, fault: nil), on: connection)
      play.wait(0.01)
      play.end(connection, pushes: 1)
    }
    #expect(play.rules == [])
  }

  @Test func `Ten empty connections within a second are a storm`() {
    let play = ProviderPlay()
    connections(10, pushes: 0, every: 0.05, in: play)
    #expect(play.found(.reconnectStorm)?.severity == .error)
    #expect(play.found(.reconnectStorm)?.count == 10)
    #expect(play.rules == ["reconnect-storm"])
  }

  @Test func `Refused connections are a storm only for who leaves no pause, and the fault is named`() {
    let play = ProviderPlay()
    func refused(_ count: Int, pause: Double) {
      for _ in 0..<count {
        play.end(play.connect(credential: nil, tls: nil), fault: "refuse")
        play.wait(pause)
      }
    }
    refused(30, pause: 0.2)
    #expect(play.rules == [])
    refused(11, pause: 0.01)
    let finding = play.found(.reconnectStorm)
    #expect(finding?.provider.credential == "")
    #expect(finding?.underFaults.first?.fault == "refuse")
  }

  @Test func `A new connection at once is right after an error packet, whoever made it`() {
    let play = ProviderPlay()
    for _ in 1...30 {
      let connection = play.connect(.gateway)
      play.push(on: connection, .gateway, token: Int(play.pushes), refused: .badDeviceToken, fault: "every")
      play.happens(.errorPacket(status: 8, identifier: 1, fault: "every"), on: connection)
      play.wait(0.01)
      play.end(connection, pushes: 1, fault: "every")
    }
    #expect(play.rules == [])
  }

  @Test func `A connection that is reset at its first push, again and again, is a storm`() {
    let play = ProviderPlay()
    for _ in 1...10 {
      let connection = play.connect()
      play.wait(0.01)
      play.end(connection, pushes: 1, fault: "reset")
    }
    #expect(play.rules == ["reconnect-storm"])
  }

  @Test func `Looking whether the port is open is no storm`() {
    let play = ProviderPlay()
    connections(100, pushes: 0, every: 1, in: play)
    #expect(play.rules == [])
  }

  @Test func `A stream a second after GOAWAY was not under way`() {
    let play = ProviderPlay()
    let connection = play.connect()
    play.happens(.goAway(fault: "going"), on: connection)
    play.wait(0.9)
    play.lost(.droppedAboveGoAway, on: connection, token: 1)
    #expect(play.found(.streamsAfterGoAway) == nil)
    play.wait(0.2)
    play.lost(.droppedAboveGoAway, on: connection, token: 2)
    #expect(play.found(.streamsAfterGoAway)?.count == 1)
    #expect(play.found(.streamsAfterGoAway)?.severity == .error)
    #expect(play.found(.streamsAfterGoAway)?.underFaults.first?.fault == "going")
  }

  @Test func `A hundred pushes one at a time, where more were allowed`() {
    let play = ProviderPlay()
    let connection = play.connect()
    play.wait(0.5)
    play.end(connection, pushes: 100, streams: 1, limit: 1000)
    // It may be that they were but made more slowly than they were answered.
    #expect(play.found(.oneStreamAtATime)?.severity == .note)
    #expect(
      play.found(.oneStreamAtATime)?.sentence
        == "100 pushes on 1 connection came one at a time, each after the answer to the one before, though 1,000 streams "
        + "were allowed.")
  }

  @Test(arguments: [
    (99, 1, 1000, 0.4), (100, 2, 1000, 0.4), (100, 1, 1, 0.4), (100, 1, 1000, 0.6), (300, 1, 1000, 10.0),
  ])
  func `Few pushes, two at a time, a limit of one, or pushes now and then: nothing waited`(
    _ pushes: Int, _ streams: Int, _ limit: Int, _ seconds: Double
  ) {
    let play = ProviderPlay()
    let connection = play.connect()
    play.wait(seconds)
    play.end(connection, pushes: pushes, streams: streams, limit: limit)
    #expect(play.rules == [])
  }

  @Test func `More streams than SETTINGS allow`() {
    let play = ProviderPlay()
    let connection = play.connect()
    play.happens(.streamLimitViolated, on: connection)
    play.happens(.streamLimitViolated, on: connection)
    #expect(play.found(.streamLimitIgnored)?.severity == .error)
    #expect(play.found(.streamLimitIgnored)?.count == 2)
  }
}
