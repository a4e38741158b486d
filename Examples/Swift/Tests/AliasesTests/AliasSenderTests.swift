import APNSEmulatorTesting
import Aliases
import Foundation
import Testing

@Suite(.apnsEmulator) struct AliasSenderTests {
  private let emulator = APNSEmulator.current
  private let app = "com.example.app"
  private let hello = #"{"aps":{"alert":"Hello"}}"#

  private func makeSender() throws -> AliasSender {
    let key = try emulator.issueTokenKey(topics: app)
    let service = try #require(URL(string: "http://\(emulator.console)"))
    return AliasSender(service: service, topic: app) { try key.token() }
  }

  @Test func allPhonesOfSomebodyHearOfIt() async throws {
    let sender = try makeSender()
    for name in ["phone-1", "tablet-1"] {
      try await sender.add(emulator.install(app, on: name), to: "anna")
    }
    try await sender.add(emulator.install(app, on: "phone-2"), to: "ben")
    #expect(try await sender.send(hello, to: "anna") == 2)
    let reached = try await emulator.waitForPushes(2) { $0.isAccepted }.compactMap(\.udid)
    #expect(Set(reached) == ["phone-1", "tablet-1"])
  }

  @Test func aPhoneWithoutTheAppIsForgotten() async throws {
    let sender = try makeSender()
    let phone = try await emulator.phone("phone-1", apps: app)
    let gone = try await phone.token(for: app)
    let other = try await emulator.install(app, on: "phone-2")
    for token in [gone, other] { try await sender.add(token, to: "anna") }
    // The phone tells it when the next push comes, and the one after that is answered 410.
    try await emulator.remove(app, from: "phone-1")
    #expect(try await sender.send(hello, to: "anna") == 2)
    _ = try await emulator.waitForPush { $0.token == gone && $0.state == .discarded }
    #expect(try await sender.send(hello, to: "anna") == 1)
    #expect(await sender.tokens(of: "anna") == [other])
  }

  @Test func whatElseIsRefusedIsTold() async throws {
    let sender = try makeSender()
    try await sender.add(emulator.install(app, on: "phone-1"), to: "anna")
    try await emulator.inject("outage") { $0.reason = .serviceUnavailable }
    await #expect(throws: AliasSender.Refusal(status: 503, reason: "ServiceUnavailable")) {
      try await sender.send(hello, to: "anna")
    }
    #expect(await sender.tokens(of: "anna").count == 1)
  }
}
