import PushModel
import Testing

import Advice

@Suite struct FieldRulesTests {
  /// Whether the feed has to show such a push.
  private func isRemarkable(
    _ interface: Interface = .provider, command: UInt8 = 2, identifier: UInt32 = 1, type: PushType? = .alert,
    priority: Priority = .immediate, expiration: UInt32? = nil, size: Int = 100
  ) -> Bool {
    Adviser.isRemarkable(
      interface: interface, command: command, identifier: identifier, pushType: type, priority: priority,
      expiration: expiration, payloadSize: size)
  }

  @Test func `A good push has nothing to remark`() {
    #expect(!isRemarkable())
    #expect(!isRemarkable(.gateway, type: nil))
    #expect(!isRemarkable(type: .background, priority: .conserving))
    #expect(!isRemarkable(expiration: 1_800_000_000))
    #expect(!isRemarkable(size: 3891))
    #expect(!isRemarkable(type: .voip, size: 4096))
    #expect(!isRemarkable(.gateway, type: nil, size: 1945))
  }

  @Test func `A push without a type`() {
    #expect(isRemarkable(type: nil))
    let play = ProviderPlay()
    play.push(on: play.connect()) { $0.pushType = nil }
    #expect(play.found(.noPushType)?.severity == .warning)
    #expect(play.rules == ["no-push-type"])
  }

  @Test func `Frames of the binary protocol can't have a type`() {
    let play = ProviderPlay()
    let connection = play.connect(.gateway)
    for _ in 1...10 { play.push(on: connection, .gateway) }
    #expect(play.rules == [])
  }

  @Test func `A background push at priority 10`() {
    #expect(isRemarkable(type: .background))
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
    #expect(isRemarkable(type: type, priority: .conserving, expiration: 0))
    let play = ProviderPlay()
    play.push(on: play.connect()) { ($0.pushType, $0.priority, $0.expiration) = (type, .conserving, 0) }
    #expect(play.found(.expiresAtOnce)?.severity == .note)
    #expect(play.rules == ["expires-at-once"])
  }

  @Test(arguments: [PushType.voip, .pushtotalk, .liveactivity])
  func `Expiration 0 where a late push is worth nothing`(_ type: PushType) {
    #expect(!isRemarkable(type: type, expiration: 0))
    let play = ProviderPlay()
    play.push(on: play.connect()) { ($0.pushType, $0.expiration) = (type, 0) }
    let calls = play.connect(.gateway, credential: "the certificate of com.example.app.voip")
    play.push(on: calls, .gateway) { $0.expiration = 0 }
    #expect(play.rules == [])
  }

  @Test func `Identifier 0 twice on a connection`() {
    #expect(isRemarkable(.gateway, identifier: 0, type: nil))
    let play = ProviderPlay()
    for _ in 1...5 {
      let connection = play.connect(.gateway)
      play.push(on: connection, .gateway) { $0.identifier = 0 }
      play.push(on: connection, .gateway)
    }
    #expect(play.rules == [])
    let connection = play.connect(.gateway)
    for _ in 1...7 { play.push(on: connection, .gateway) { $0.identifier = 0 } }
    #expect(play.found(.identifiersNotUnique)?.count == 7)
    #expect(play.found(.identifiersNotUnique)?.severity == .warning)
  }

  @Test func `A frame without a token asks for an error packet on purpose`() {
    let play = ProviderPlay()
    let connection = play.connect(.gateway)
    for _ in 1...5 {
      play.push(on: connection, .gateway, refused: .missingDeviceToken) { $0.identifier = 0 }
    }
    #expect(play.found(.identifiersNotUnique) == nil)
  }

  @Test func `Command 0`() {
    #expect(isRemarkable(.gateway, command: 0, identifier: 0, type: nil))
    let play = ProviderPlay()
    let connection = play.connect(.gateway)
    for _ in 1...5 { play.push(on: connection, .gateway) { ($0.command, $0.identifier) = (0, 0) } }
    #expect(play.found(.command0)?.severity == .note)
    #expect(play.rules == ["command-0"])
  }

  @Test(arguments: [
    (Interface.provider, PushType?.some(.alert), 3892), (.provider, .some(.alert), 4096),
    (.provider, .some(.voip), 4865), (.gateway, nil, 1946),
  ])
  func `A payload that nearly is too large`(_ interface: Interface, _ type: PushType?, _ size: Int) {
    #expect(isRemarkable(interface, type: type, size: size))
    let play = ProviderPlay()
    let connection = play.connect(interface)
    let payload = [UInt8](repeating: 0x20, count: size)
    payload.withUnsafeBytes { bytes in
      play.push(on: connection, interface) {
        $0.pushType = type
        $0.payload = bytes
      }
    }
    #expect(play.found(.payloadNearlyTooLarge)?.severity == .note)
    #expect(play.found(.payloadNearlyTooLarge)?.sentence.contains("\(size) of") == true)
  }

  @Test func `A payload that is too large is not nearly so`() {
    #expect(!isRemarkable(size: 4097))
    #expect(!isRemarkable(.gateway, type: nil, size: 2049))
  }
}
