import APNSEmulatorTesting
import Foundation
import Shop
import XCTest

final class ShopXCTests: XCTestCase {
  func testAnOfflinePhoneGetsItsOrderLater() async throws {
    let emulator = try await APNSEmulator.start()
    addTeardownBlock { await emulator.stop() }
    let phone = try await emulator.phone(apps: "com.example.shop")
    let token = try await phone.token(for: "com.example.shop")
    try await phone.disconnect()

    let key = try emulator.issueTokenKey()
    let service = try XCTUnwrap(URL(string: "http://\(emulator.console)"))
    let shop = Shop(service: service, topic: "com.example.shop") { try key.token() }
    try await shop.ship(order: 17, to: token)

    try await phone.connect()
    let message = try await phone.nextMessage()
    XCTAssertTrue(message.isFromStore)
    XCTAssertTrue(message.text.contains("Order 17"))
  }
}
