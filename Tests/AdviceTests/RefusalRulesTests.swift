import PushModel
import Testing

import Advice

@Suite struct RefusalRulesTests {
  @Test(arguments: [
    (Rejection.unregistered, AdviceRule.pushesToGoneToken), (.expiredToken, .pushesToGoneToken),
    (.badDeviceToken, .pushesToBadToken), (.deviceTokenNotForTopic, .pushesToBadToken),
    (.invalidTokenSize, .pushesToBadToken),
  ])
  func `A token that the provider was told of is no use: from three pushes on it is an error`(
    _ rejection: Rejection, _ rule: AdviceRule
  ) {
    let play = ProviderPlay()
    let connection = play.connect()
    for time in 0..<4 {
      play.push(on: connection, token: 1, payload: time, refused: rejection)
      play.wait(1)
      let expected: Severity? = time == 0 ? nil : time < 3 ? .warning : .error
      #expect(play.found(rule)?.severity == expected)
    }
    #expect(play.found(rule)?.count == 3)
    #expect(play.found(rule)?.examples == [2, 3, 4])
    #expect(play.rules == [rule.rawValue])
  }

  @Test func `Many tokens that are gone, once each, are told of to no one`() {
    let play = ProviderPlay()
    let connection = play.connect()
    for token in 1...500 {
      play.push(on: connection, token: token, refused: .unregistered)
      play.wait(0.01)
    }
    #expect(play.rules == [])
  }

  @Test func `Pushes that were under way at the first answer are not held against the provider`() {
    let play = ProviderPlay()
    let connection = play.connect()
    for payload in 1...20 {
      play.push(on: connection, token: 1, payload: payload, refused: .unregistered)
      play.wait(0.004)
    }
    #expect(play.rules == [])
  }

  @Test func `The same push at once again and again is a retry, not under way`() {
    let play = ProviderPlay()
    let connection = play.connect()
    for _ in 1...5 {
      play.push(on: connection, token: 1, refused: .unregistered)
      play.wait(0.001)
    }
    #expect(play.found(.pushesToGoneToken)?.count == 3)
  }

  /// One frame on a connection of its own, refused with an error packet or, if it has command 0, in silence.
  private func refusedFrame(
    _ rejection: Rejection, command: UInt8 = 2, tokenLength: Int? = nil, in play: ProviderPlay,
    change: (inout SeenPush) -> Void = { _ in }
  ) {
    let connection = play.connect(.gateway)
    play.push(on: connection, .gateway, tokenLength: tokenLength, refused: rejection) {
      $0.command = command
      change(&$0)
    }
    if command != 0 {
      let packet = (rejection.legacyStatus, UInt32(play.pushes))
      play.happens(.errorPacket(status: packet.0, identifier: packet.1, fault: nil), on: connection)
    }
    play.wait(5)
    play.end(connection, pushes: 1)
  }

  @Test(arguments: [(Rejection.missingDeviceToken, 0), (.invalidTokenSize, 1)])
  func `A frame without a token, or with one byte for it, to get an error packet, is no push`(
    _ rejection: Rejection, _ length: Int
  ) {
    let play = ProviderPlay()
    for _ in 1...5 {
      refusedFrame(rejection, tokenLength: length, in: play) { $0.expiration = 0 }
    }
    #expect(play.rules == [])
  }

  @Test func `An error packet tells of a token that is bad`() {
    let play = ProviderPlay()
    for _ in 1...3 { refusedFrame(.badDeviceToken, in: play) }
    #expect(play.found(.pushesToBadToken)?.count == 2)
  }

  @Test(arguments: [Rejection.badDeviceToken, .badTopic])
  func `Command 0 is refused in silence, so that its provider was told nothing`(_ rejection: Rejection) {
    let play = ProviderPlay()
    for _ in 1...5 { refusedFrame(rejection, command: 0, in: play) }
    #expect(play.rules == ["command-0"])
  }

  @Test func `Of several that are rejected on a connection, as behind a bridge, one was told of`() {
    let play = ProviderPlay()
    let connection = play.connect(.gateway)
    for token in [1, 2, 3] {
      play.push(on: connection, .gateway, token: token, refused: .badDeviceToken)
    }
    play.happens(.errorPacket(status: 8, identifier: 2, fault: nil), on: connection)
    play.wait(1)
    for token in [3, 2, 1] {
      play.push(on: connection, .gateway, token: token, refused: .badDeviceToken)
      play.happens(
        .errorPacket(status: 8, identifier: UInt32(play.pushes), fault: nil), on: connection)
    }
    #expect(play.found(.pushesToBadToken)?.examples == [5])
    #expect(play.rules == ["pushes-to-bad-token"])
  }

  @Test(arguments: [
    Rejection.expiredProviderToken, .invalidProviderToken, .badEnvironmentKeyInToken, .serviceUnavailable,
    .unknownError,
  ])
  func `What a bridge is refused for itself, or that says nothing of the frame, is not its provider's`(
    _ rejection: Rejection
  ) {
    let play = ProviderPlay()
    for _ in 1...5 { refusedFrame(rejection, in: play) }
    #expect(play.rules == [])
  }

  @Test func `Another provider need not know what this one was told`() {
    let play = ProviderPlay()
    for credential in 1...10 {
      let connection = play.connect(credential: "team \(credential)")
      play.push(on: connection, token: 1, refused: .unregistered)
      play.wait(1)
    }
    #expect(play.rules == [])
  }

  @Test func `A token that a fault calls gone counts from its second push on, and the fault is named`() {
    let play = ProviderPlay()
    let connection = play.connect()
    play.push(on: connection, token: 1, refused: .unregistered, fault: "gone")
    #expect(play.rules == [])
    play.wait(10)
    play.push(on: connection, token: 1, refused: .unregistered, fault: "gone")
    #expect(play.found(.pushesToGoneToken)?.underFaults.first?.fault == "gone")
  }

  @Test func `An answer that a fault holds back comes late: pushes until then were under way`() {
    let play = ProviderPlay()
    let connection = play.connect()
    for payload in 1...20 {
      play.push(on: connection, token: 1, payload: payload, refused: .unregistered, fault: "slow")
      play.wait(0.4)
    }
    #expect(play.rules == [])
    for _ in 1...3 {
      play.push(on: connection, token: 2, refused: .unregistered, fault: "slow")
      play.wait(0.01)
    }
    #expect(play.found(.pushesToGoneToken)?.count == 1)
  }

  @Test func `The same push many times side by side was not told of before`() {
    let play = ProviderPlay()
    let connection = play.connect()
    for _ in 1...10 {
      play.push(on: connection, token: 1, refused: .unregistered)
      play.push(on: connection, token: 2, refused: .badTopic)
    }
    play.wait(0.01)
    for _ in 1...10 { play.push(on: connection, token: 2, refused: .badTopic) }
    #expect(play.rules == [])
  }

  @Test(arguments: [Rejection.badTopic, .payloadTooLarge, .invalidProviderToken, .badPath, .methodNotAllowed])
  func `The same push refused three times is tried in vain`(_ rejection: Rejection) {
    let play = ProviderPlay()
    let connection = play.connect()
    for time in 1...4 {
      play.push(on: connection, refused: rejection)
      play.wait(59)
      #expect(play.found(.retryOfRefused)?.count == (time < 3 ? nil : UInt64(time)))
    }
    #expect(play.found(.retryOfRefused)?.severity == .error)
  }

  @Test func `The same push once a minute is a new try each time`() {
    let play = ProviderPlay()
    let connection = play.connect()
    for _ in 1...10 {
      play.push(on: connection, refused: .badTopic)
      play.wait(60)
    }
    #expect(play.rules == [])
  }

  @Test func `Pushes that differ are no retry, and reset lets one begin anew`() {
    let play = ProviderPlay()
    let connection = play.connect()
    for token in 1...50 { play.push(on: connection, token: token, refused: .badTopic) }
    for payload in 2...50 { play.push(on: connection, token: 1, payload: payload, refused: .badTopic) }
    for _ in 1...5 {
      play.push(on: connection, refused: .badPriority)
      play.wait(0.01)
      play.adviser.clear()
    }
    #expect(play.rules == [])
  }

  @Test(arguments: [Rejection.shutdown, .expiredProviderToken, .idleTimeout])
  func `What has to be sent again may come again`(_ rejection: Rejection) {
    let play = ProviderPlay()
    let connection = play.connect()
    for time in 1...8 {
      play.push(on: connection, refused: time == 3 ? nil : rejection, fault: time == 3 ? nil : "three")
      play.wait(0.01)
    }
    #expect(play.rules == [])
  }

  @Test func `Three retries within a second of a 503 are without a pause, whoever made the 503`() {
    let play = ProviderPlay()
    let connection = play.connect()
    for token in 1...3 {
      play.push(on: connection, token: token, refused: .serviceUnavailable, fault: "outage")
      #expect(play.looksAtAll)
      play.wait(0.01)
      #expect(play.rules == [])
      play.push(on: connection, token: token)
    }
    let finding = play.found(.retryWithoutPause)
    #expect(finding?.severity == .warning)
    #expect(finding?.count == 3)
    #expect(finding?.underFaults.first?.count == 3)
    #expect(finding?.sentence.contains("10 ms") == true)
    #expect(play.rules == ["retry-without-pause"])
  }

  @Test func `A push that fails is tried again once: what is the same besides was another push`() {
    let play = ProviderPlay()
    let connection = play.connect()
    play.push(on: connection, refused: .serviceUnavailable)
    for _ in 1...50 {
      play.push(on: connection)
      play.wait(0.01)
    }
    #expect(play.rules == [])
    for _ in 1...2 {
      for _ in 1...5 { play.push(on: connection, refused: .serviceUnavailable) }
      play.wait(0.01)
    }
    play.push(on: connection)
    #expect(play.found(.retryWithoutPause)?.count == 3)
  }

  @Test func `Twenty are a storm`() {
    let play = ProviderPlay()
    let connection = play.connect()
    for _ in 0...20 {
      play.push(on: connection, refused: .internalServerError)
      play.wait(0.01)
    }
    #expect(play.found(.retryWithoutPause)?.severity == .error)
  }

  @Test func `Who waits a second, or sends something else, has paused`() {
    let play = ProviderPlay()
    let connection = play.connect()
    for _ in 1...10 {
      play.push(on: connection, refused: .serviceUnavailable)
      play.wait(1.1)
    }
    for payload in 1...10 {
      play.push(on: connection, payload: payload, refused: .serviceUnavailable)
      play.wait(0.1)
    }
    play.rest(2)
    #expect(play.rules == [])
    #expect(!play.looksAtAll)
  }

  @Test(arguments: [
    Rejection.badCertificateEnvironment, .badEnvironmentKeyInToken, .badEnvironmentKeyIdInToken,
  ])
  func `A credential of the other environment`(_ rejection: Rejection) {
    let play = ProviderPlay()
    let connection = play.connect()
    play.push(on: connection, refused: rejection, fault: "other")
    #expect(play.rules == [])
    play.push(on: connection, refused: rejection)
    #expect(play.found(.wrongEnvironment)?.severity == .error)
    #expect(play.found(.wrongEnvironment)?.count == 1)
    #expect(
      play.found(.wrongEnvironment)?.sentence
        == "1 push came with a certificate or key of the other environment.")
  }

  @Test(arguments: [Interface.gateway, .provider])
  func `A certificate of the other environment, whose connections end before a push`(_ interface: Interface) {
    let play = ProviderPlay()
    for _ in 1...2 {
      let connection = play.connect(interface)
      play.happens(.otherEnvironment, on: connection)
      play.end(connection)
    }
    #expect(play.found(.wrongEnvironment)?.severity == .error)
    #expect(
      play.found(.wrongEnvironment)?.sentence
        == "2 connections came with a certificate that is not for this environment.")
    #expect(play.rules == ["wrong-environment"])
  }

  @Test(arguments: Rejection.allCases)
  func `A refusal by a fault is never held against the provider`(_ rejection: Rejection) {
    for interface in [Interface.gateway, .provider] {
      let play = ProviderPlay()
      let connection = play.connect(interface)
      for token in 1...40 {
        play.push(on: connection, interface, token: token, refused: rejection, fault: "rule")
      }
      play.end(connection, pushes: 40)
      play.adviser.nothingMoreComes(play.moment)
      #expect(play.rules == [])
    }
  }
}
