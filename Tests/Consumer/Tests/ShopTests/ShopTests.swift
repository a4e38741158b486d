import APNSEmulatorTesting
import Foundation
import Shop
import Testing

@Suite(.apnsEmulator) struct ShopTests {
  let emulator = APNSEmulator.current
  let app = "com.example.shop"

  func makeShop() throws -> Shop {
    let key = try emulator.issueTokenKey(topics: app)
    return Shop(service: try #require(URL(string: "http://\(emulator.console)")), topic: app) {
      try key.token()
    }
  }

  @Test func aPhoneGetsItsOrder() async throws {
    let phone = try await emulator.phone(apps: app)
    try await makeShop().ship(order: 17, to: phone.token(for: app))
    #expect(try await phone.nextMessage().text.contains("Order 17 has shipped"))
    #expect(try await emulator.waitForPush { $0.state == .delivered }.isAccepted)
  }

  @Test func aBusyServiceIsRetried() async throws {
    let token = try await emulator.install(app, on: "phone-1")
    try await emulator.inject("busy", when: .next(2)) { $0.reason = .serviceUnavailable }
    try await makeShop().ship(order: 17, to: token)
    #expect(try await emulator.pushes().map(\.rejection) == [.serviceUnavailable, .serviceUnavailable, nil])
  }

  @Test func aRemovedAppIsRejected() async throws {
    let phone = try await emulator.phone(apps: app)
    let (shop, token) = (try makeShop(), try await phone.token(for: app))
    try await emulator.remove(app, from: phone.udid)
    try await shop.ship(order: 1, to: token)
    _ = try await emulator.waitForPush { $0.state == .discarded }
    await #expect(throws: Shop.Refusal(status: 410, reason: "Unregistered")) {
      try await shop.ship(order: 2, to: token)
    }
  }
}
