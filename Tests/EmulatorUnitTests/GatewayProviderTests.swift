import PushModel
import TestSupport
import Testing

import Broker
@testable import Emulator

@Suite("A provider of the gateway")
struct GatewayProviderTests {
  @Test("pushes to its topic whatever names have come since it has connected")
  func refreshed() throws {
    let registry = Broker(derivation: FakeDerivation()).registry
    registry.unusedTopicLimit = 1
    let (name, other) = (try #require(Topic("com.example.app")), try #require(Topic("an.other")))
    let first = try #require(registry.topic(named: name))
    var provider = GatewayProvider(topic: first, environment: .sandbox, topics: [], name: name)
    provider.refresh(registry)
    #expect(provider.topic == first)
    _ = registry.topic(named: other)
    #expect(!registry.contains(first))
    provider.refresh(registry)
    let second = try #require(provider.topic)
    #expect(second != first && second == registry.knownTopic(named: name))
  }
}
