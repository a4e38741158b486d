import PushModel
import Testing

import Advice

@Suite struct LossRulesTests {
  private func goAway(_ play: ProviderPlay, losing tokens: ClosedRange<Int>, fault: String? = nil) -> UInt32 {
    let connection = play.connect()
    play.happens(.goAway(fault: fault), on: connection)
    for token in tokens { play.lost(.droppedAboveGoAway, on: connection, token: token) }
    return connection
  }

  @Test func `What a GOAWAY left out and does not come again is lost after a minute`() {
    let play = ProviderPlay()
    let old = goAway(play, losing: 1...29)
    play.end(old, pushes: 40)
    let new = play.connect()
    play.rest(59)
    #expect(play.rules == [])
    play.rest(1)
    let finding = play.found(.lostAtGoAway)
    #expect(finding?.severity == .error)
    #expect(finding?.count == 29)
    #expect(finding?.sentence.contains("29 of 29 pushes") == true)
    play.end(new)
  }

  @Test func `A provider that sends it again on a new connection has lost nothing`() {
    let play = ProviderPlay()
    let old = goAway(play, losing: 1...29)
    #expect(play.looksAtAll)
    play.end(old, pushes: 40)
    let new = play.connect()
    for token in 1...29 { play.push(on: new, token: token) }
    #expect(!play.looksAtAll)
    play.end(new, pushes: 29)
    play.rest(70)
    #expect(play.rules == [])
  }

  @Test func `Who leaves without sending it again is told after two seconds`() {
    let play = ProviderPlay()
    let old = goAway(play, losing: 1...3)
    play.end(old, pushes: 40)
    play.rest(1)
    #expect(play.rules == [])
    play.rest(1)
    #expect(play.found(.lostAtGoAway)?.count == 3)
  }

  @Test func `What comes later than that after all is taken back`() {
    let play = ProviderPlay()
    let old = goAway(play, losing: 1...3)
    play.end(old, pushes: 40)
    play.rest(10)
    let new = play.connect()
    for token in 1...2 { play.push(on: new, token: token) }
    #expect(play.found(.lostAtGoAway)?.count == 1)
    play.push(on: new, token: 3)
    #expect(play.rules == [])
  }

  @Test func `When all have ended nobody waits`() {
    let play = ProviderPlay()
    _ = goAway(play, losing: 1...3)
    play.adviser.nothingMoreComes(play.moment)
    #expect(play.found(.lostAtGoAway)?.count == 3)
    play.rest(60)
    #expect(play.found(.lostAtGoAway)?.count == 3)
    #expect(!play.looksAtAll)
  }

  @Test func `Who asks too early loses nothing by it: what comes after all is taken back`() {
    let play = ProviderPlay()
    _ = goAway(play, losing: 1...3)
    let frames = play.connect(.gateway)
    play.happens(.errorPacket(status: 8, identifier: 1, fault: nil), on: frames)
    play.happens(.discardedUnseen(count: 2), on: frames)
    play.adviser.nothingMoreComes(play.moment)
    #expect(play.rules == ["lost-after-error", "lost-at-goaway"])
    let new = play.connect()
    for token in 1...3 { play.push(on: new, token: token) }
    let next = play.connect(.gateway)
    for token in 4...5 { play.push(on: next, .gateway, token: token) }
    #expect(play.rules == [])
  }

  @Test func `A GOAWAY by a fault is no excuse for what was lost at it, and is named`() {
    let play = ProviderPlay()
    _ = goAway(play, losing: 1...29, fault: "going")
    play.adviser.nothingMoreComes(play.moment)
    let faults = play.found(.lostAtGoAway)?.underFaults ?? []
    #expect(faults.map(\.fault) == ["going"])
    #expect(faults.map(\.count) == [29])
  }

  @Test func `Several to one token are counted one by one, whatever their payloads say`() {
    let play = ProviderPlay()
    let old = play.connect()
    play.happens(.goAway(fault: nil), on: old)
    for payload in 1...5 { play.lost(.droppedAboveGoAway, on: old, token: 1, payload: payload) }
    play.end(old, pushes: 5)
    let new = play.connect()
    for payload in [3, 100, 101] { play.push(on: new, token: 1, payload: payload) }
    play.adviser.nothingMoreComes(play.moment)
    #expect(play.found(.lostAtGoAway)?.count == 2)
    #expect(play.found(.lostAtGoAway)?.sentence.contains("2 of 5 pushes") == true)
  }

  @Test func `A push that is lost twice is one push`() {
    let play = ProviderPlay()
    let first = goAway(play, losing: 1...4)
    play.end(first, pushes: 4)
    let second = goAway(play, losing: 1...4)
    play.wait(2)
    for token in 1...4 { play.lost(.droppedAboveGoAway, on: second, token: token) }
    play.adviser.nothingMoreComes(play.moment)
    #expect(play.found(.lostAtGoAway)?.count == 4)
  }

  @Test func `Frames behind an error packet that do not come again are lost`() {
    let play = ProviderPlay()
    let connection = play.connect(.gateway)
    play.errorPacket(on: connection, discarding: 1...87)
    play.end(connection, pushes: 100)
    let new = play.connect(.gateway)
    for token in 1...7 { play.push(on: new, .gateway, token: token) }
    play.end(new, pushes: 7)
    play.rest(3)
    let finding = play.found(.lostAfterError)
    #expect(finding?.severity == .error)
    #expect(finding?.count == 80)
    #expect(finding?.sentence == "80 of 87 frames that were discarded after an error did not come again.")
    #expect(play.rules == ["lost-after-error"])
  }

  @Test func `A provider that sends again what came after the rejected frame has lost nothing`() {
    let play = ProviderPlay()
    let connection = play.connect(.gateway)
    play.errorPacket(on: connection, discarding: 1...87)
    play.end(connection, pushes: 100)
    let new = play.connect(.gateway)
    for token in 1...87 { play.push(on: new, .gateway, token: token) }
    play.end(new, pushes: 87)
    play.rest(90)
    play.adviser.nothingMoreComes(play.moment)
    #expect(play.rules == [])
  }

  @Test func `Of frames that nobody looked at, each push that follows counts as one`() {
    let play = ProviderPlay()
    let connection = play.connect(.gateway)
    play.happens(.errorPacket(status: 8, identifier: 1, fault: nil), on: connection)
    play.happens(.discardedUnseen(count: 50), on: connection)
    play.end(connection, pushes: 1)
    let new = play.connect(.gateway)
    for token in 1...20 { play.push(on: new, .gateway, token: token) }
    play.rest(60)
    #expect(
      play.found(.lostAfterError)?.sentence
        == "30 of 50 frames that were discarded after an error did not come again.")
    #expect(play.found(.lostAfterError)?.count == 30)
    #expect(!play.looksAtAll)
  }

  @Test func `Streams of which no request came are counted while they may have been under way`() {
    let play = ProviderPlay()
    let old = play.connect()
    play.happens(.goAway(fault: nil), on: old)
    let nothing = LostPush(token: .none, payload: .none)
    for _ in 1...29 { play.happens(.droppedAboveGoAway(nothing), on: old) }
    play.wait(2)
    for _ in 1...50 { play.happens(.droppedAboveGoAway(nothing), on: old) }
    let new = play.connect()
    for token in 1...9 { play.push(on: new, token: token) }
    play.adviser.nothingMoreComes(play.moment)
    #expect(play.found(.lostAtGoAway)?.count == 20)
    #expect(play.found(.streamsAfterGoAway)?.count == 50)
  }

  @Test func `A frame that was there to get an error packet need not come again`() {
    let play = ProviderPlay()
    let connection = play.connect(.gateway)
    play.happens(.errorPacket(status: 8, identifier: 1, fault: nil), on: connection)
    play.happens(.discardedBehindError(LostPush(token: .none, payload: .none)), on: connection)
    play.adviser.nothingMoreComes(play.moment)
    #expect(play.rules == [])
  }

  @Test func `Who deletes a token that was refused is right not to send its other frames again`() {
    let play = ProviderPlay()
    let connection = play.connect(.gateway)
    for token in 1...4 { play.push(on: connection, .gateway, token: token) }
    play.push(on: connection, .gateway, token: 5, refused: .unregistered)
    play.errorPacket(on: connection, discarding: 6...9)
    play.lost(.discardedBehindError, on: connection, token: 5, payload: 30)
    play.end(connection, pushes: 10)
    let new = play.connect(.gateway)
    for token in 6...8 { play.push(on: new, .gateway, token: token) }
    play.adviser.nothingMoreComes(play.moment)
    #expect(play.found(.lostAfterError)?.count == 1)
    play.push(on: new, .gateway, token: 9)
    #expect(play.rules == [])
  }

  @Test(arguments: [Rejection.unregistered, .badDeviceToken])
  func `A push above the last stream for a token that is gone or bad need not come again`(
    _ rejection: Rejection
  ) {
    let play = ProviderPlay()
    let old = play.connect()
    play.push(on: old, token: 1, refused: rejection)
    play.happens(.goAway(fault: nil), on: old)
    for payload in 2...4 { play.lost(.droppedAboveGoAway, on: old, token: 1, payload: payload) }
    for payload in 2...4 { play.lost(.droppedAboveGoAway, on: old, token: 2, payload: payload) }
    let new = play.connect()
    play.push(on: new, token: 2, payload: 2, refused: rejection)
    play.adviser.nothingMoreComes(play.moment)
    #expect(play.rules == [])
    #expect(!play.looksAtAll)
  }

  @Test func `What was told as lost is taken back when its token proves to be gone, of that provider alone`()
  {
    let play = ProviderPlay()
    for (credential, first) in [("one", 1), ("two", 4)] {
      let old = play.connect(credential: credential)
      play.happens(.goAway(fault: nil), on: old)
      for payload in first...first + 2 {
        play.lost(.droppedAboveGoAway, on: old, token: 1, payload: payload)
      }
    }
    play.adviser.nothingMoreComes(play.moment)
    #expect(play.adviser.findings().map(\.count) == [3, 3])
    play.push(on: play.connect(credential: "one"), token: 1, payload: 9, refused: .unregistered)
    #expect(play.adviser.findings().map(\.provider.credential) == ["two"])
  }

  @Test func `Reset forgets what was lost`() {
    let play = ProviderPlay()
    _ = goAway(play, losing: 1...3)
    play.adviser.clear()
    #expect(!play.looksAtAll)
    play.adviser.nothingMoreComes(play.moment)
    #expect(play.rules == [])
  }
}

@Suite struct ResendRulesTests {
  /// A batch of ten, of which the sixth is rejected; answers the next connection.
  private func rejectedBatch(_ play: ProviderPlay, accepted: ClosedRange<Int>) -> UInt32 {
    let connection = play.connect(.gateway)
    for token in accepted { play.push(on: connection, .gateway, token: token) }
    play.happens(.errorPacket(status: 8, identifier: 6, fault: nil), on: connection)
    for token in accepted { play.lost(.acceptedBeforeError, on: connection, token: token) }
    for token in 7...10 { play.lost(.discardedBehindError, on: connection, token: token) }
    play.end(connection, pushes: 10)
    return play.connect(.gateway)
  }

  @Test func `A batch that begins again from the start doubles what was accepted`() {
    let play = ProviderPlay()
    let new = rejectedBatch(play, accepted: 1...5)
    for token in 1...10 { play.push(on: new, .gateway, token: token) }
    #expect(play.found(.resentFromTheStart)?.count == 5)
    #expect(play.found(.resentFromTheStart)?.severity == .warning)
    #expect(play.rules == ["resent-from-the-start"])
  }

  @Test func `A batch that goes on behind the rejected one doubles nothing, whatever comes then`() {
    let play = ProviderPlay()
    let new = rejectedBatch(play, accepted: 1...5)
    for token in 7...10 { play.push(on: new, .gateway, token: token) }
    for token in 1...10 { play.push(on: new, .gateway, token: token) }
    #expect(play.rules == [])
    #expect(!play.looksAtAll)
  }

  @Test func `What was lost may come on an older connection: then the batch is over`() {
    let play = ProviderPlay()
    let older = play.connect(.gateway)
    let new = rejectedBatch(play, accepted: 1...5)
    play.push(on: older, .gateway, token: 7)
    #expect(play.looksAtAll)
    for token in 8...10 { play.push(on: older, .gateway, token: token) }
    #expect(!play.looksAtAll)
    for token in 1...10 { play.push(on: new, .gateway, token: token) }
    #expect(play.rules == [])
  }

  @Test func `Pushes that all look alike are taken for those that were lost`() {
    let play = ProviderPlay()
    let connection = play.connect(.gateway)
    play.happens(.errorPacket(status: 8, identifier: 6, fault: nil), on: connection)
    for _ in 1...5 { play.lost(.acceptedBeforeError, on: connection, token: 1) }
    for _ in 1...5 { play.lost(.discardedBehindError, on: connection, token: 1) }
    play.end(connection, pushes: 10)
    let new = play.connect(.gateway)
    for _ in 1...5 { play.push(on: new, .gateway, token: 1) }
    play.adviser.nothingMoreComes(play.moment)
    #expect(play.rules == [])
  }

  @Test func `After a minute an old notification is a new one`() {
    let play = ProviderPlay()
    let new = rejectedBatch(play, accepted: 1...5)
    play.rest(60)
    for token in 1...5 { play.push(on: new, .gateway, token: token) }
    #expect(play.found(.resentFromTheStart) == nil)
  }
}
