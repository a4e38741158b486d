import Basics
import Phone
import PushModel
import SimulatedDevice
import Testing

import DeviceDriver

/// A phone with a connection to both environments.
struct ConnectedPhoneTests {
  private static let app = "com.example.app"
  private let now = Timestamp(seconds: 1_800_000_000)
  private let phone = ConnectedPhone(NewPhone(), in: [.sandbox, .production])

  private func order(_ json: String, _ tokens: [(Environment, [TokenNeed: DeviceToken])]) throws {
    let value = try #require(JSONReader.read(Array(json.utf8), maximumDepth: 8))
    _ = try phone.perform(PhoneOrder(value), tokens: tokens, at: now)
  }

  @Test(
    "an app that is installed again in one environment still has its token of the other, if it is entitled to that"
  )
  func reinstalled() throws {
    let topic = try #require(Topic(Self.app))
    let need = TokenNeed(topic)
    let token = try #require(DeviceToken(hex: String(repeating: "bb", count: 32)))
    let tokens = [(Environment.production, [need: token])]
    _ = phone.hear(of: .app(topic, .installed), from: .sandbox, at: now)
    try order(#"{"do":"settings","apps":{"com.example.app":{"entitlement":"production"}}}"#, tokens)
    #expect(phone.phone.hasToken(for: need))
    _ = phone.hear(of: .app(topic, .reinstalled), from: .sandbox, at: now)
    #expect(!phone.phone.hasToken(for: need))
    try order(#"{"do":"open","topic":"com.example.app"}"#, tokens)
    #expect(phone.phone.hasToken(for: need))
  }
}
