import PushModel
import Testing

import Advice

@Suite struct FieldRulesTests {
  @Test func `A good push has nothing to remark`() {
    let play = ProviderPlay()
    let connection = play.connect()
    play.push(on: connection)
    play.push(on: connection) { ($0.pushType, $0.priority) = (.background, .conserving) }
    play.push(on: connection) { $0.expiration = 1_800_000_000 }
    sized(3891, in: play, on: connection)
    sized(4096, in: play, on: connection) { $0.pushType = .voip }
    sized(1945, in: play, on: play.connect(.gateway), .gateway)
    #expect(play.rules == [])
  }

  @Test func `A push without a type`() {
    let play = ProviderPlay()
    play.push(on: play.connect()) { $0.pushType = nil }
    #expect(play.found(.noPushType)?.severity == .warning)
    #expect(play.rules == ["no-push-type"])
  }

  @Test func `A type that nobody knows is refused, and not missing`() {
    let play = ProviderPlay()
    let connection = play.connect()
    play.push(on: connection, refused: .invalidPushType) { $0.pushType = nil }
    #expect(play.rules == [])
    play.push(on: connection, refused: .serviceUnavailable, fault: "outage") { $0.pushType = nil }
    #expect(play.rules == ["no-push-type"])
  }

  @Test func `Frames of the binary protocol can't have a type`() {
    let play = ProviderPlay()
    let connection = play.connect(.gateway)
    for _ in 1...10 { play.push(on: connection, .gateway) }
    #expect(play.rules == [])
  }

  @Test func `A background push at priority 10`() {
    let play = ProviderPlay()
    let connection = play.connect()
    play.push(on: connection) { ($0.pushType, $0.priority) = (.background, .conserving) }
    #expect(play.rules == [])
    play.push(on: connection) { ($0.pushType, $0.priority) = (.background, .immediate) }
    #expect(play.found(.backgroundAtPriority10)?.severity == .warning)
    #expect(play.rules == ["background-at-priority-10"])
  }

  @Test(arguments: [PushType.alert, .background])
  func `Expiration 0 where people expect a push to be stored`(_ type: PushType) {
    let play = ProviderPlay()
    play.push(on: play.connect()) { ($0.pushType, $0.priority, $0.expiration) = (type, .conserving, 0) }
    #expect(play.found(.expiresAtOnce)?.severity == .note)
    #expect(play.rules == ["expires-at-once"])
  }

  @Test(arguments: [PushType.voip, .pushtotalk, .liveactivity])
  func `Expiration 0 where a late push is worth nothing`(_ type: PushType) {
    let play = ProviderPlay()
    play.push(on: play.connect()) { ($0.pushType, $0.expiration) = (type, 0) }
    let calls = play.connect(.gateway, credential: "the certificate of com.example.app.voip")
    play.push(on: calls, .gateway) { $0.expiration = 0 }
    #expect(play.rules == [])
  }

  @Test(arguments: [0, 7] as [UInt32])
  func `The same identifier twice on a connection`(_ identifier: UInt32) {
    let play = ProviderPlay()
    for _ in 1...5 {
      let connection = play.connect(.gateway)
      play.push(on: connection, .gateway) { $0.identifier = identifier }
      for other in 100...200 { play.push(on: connection, .gateway) { $0.identifier = UInt32(other) } }
    }
    #expect(play.rules == [])
    let connection = play.connect(.gateway)
    for _ in 1...7 { play.push(on: connection, .gateway) { $0.identifier = identifier } }
    #expect(play.found(.identifiersNotUnique)?.count == 7)
    #expect(play.found(.identifiersNotUnique)?.severity == .warning)
  }

  @Test func `A frame without a token asks for an error packet on purpose`() {
    let play = ProviderPlay()
    let connection = play.connect(.gateway)
    for _ in 1...5 {
      play.push(on: connection, .gateway, tokenLength: 0, refused: .missingDeviceToken) { $0.identifier = 0 }
    }
    #expect(play.found(.identifiersNotUnique) == nil)
  }

  @Test func `Command 0`() {
    let play = ProviderPlay()
    let connection = play.connect(.gateway)
    for _ in 1...5 { play.push(on: connection, .gateway) { ($0.command, $0.identifier) = (0, 0) } }
    #expect(play.found(.command0)?.severity == .note)
    #expect(play.rules == ["command-0"])
  }

  /// A push whose payload has so many bytes.
  private func sized(
    _ size: Int, in play: ProviderPlay, on connection: UInt32, _ interface: Interface = .provider,
    change: (inout SeenPush) -> Void = { _ in }
  ) {
    let payload = [UInt8](repeating: 0x20, count: size)
    play.push(on: connection, interface, bytes: payload, change: change)
  }

  @Test(arguments: [
    (Interface.provider, PushType?.some(.alert), 3892, "3,892 of 4,096 bytes"),
    (.provider, .some(.alert), 4096, "4,096 of 4,096 bytes"),
    (.provider, .some(.voip), 4865, "4,865 of 5,120 bytes"), (.gateway, nil, 1946, "1,946 of 2,048 bytes"),
  ])
  func `A payload that nearly is too large`(
    _ interface: Interface, _ type: PushType?, _ size: Int, _ words: String
  ) {
    let play = ProviderPlay()
    sized(size, in: play, on: play.connect(interface), interface) { $0.pushType = type }
    #expect(play.found(.payloadNearlyTooLarge)?.severity == .note)
    #expect(play.found(.payloadNearlyTooLarge)?.sentence.contains(words) == true)
  }

  @Test func `The largest payload is told with its own limit, whichever came last`() {
    let play = ProviderPlay()
    let connection = play.connect()
    sized(4900, in: play, on: connection) { $0.pushType = .voip }
    sized(4000, in: play, on: connection)
    #expect(play.found(.payloadNearlyTooLarge)?.sentence.contains("4,900 of 5,120 bytes") == true)
  }

  @Test func `A payload that is too large is not nearly so`() {
    let play = ProviderPlay()
    sized(4097, in: play, on: play.connect()) { $0.rejection = .payloadTooLarge }
    sized(2049, in: play, on: play.connect(.gateway), .gateway) { $0.rejection = .payloadTooLarge }
    #expect(play.rules == [])
  }
}
