import PushModel
import Testing

import Credentials

@Suite("Provider connection binding")
struct ProviderConnectionBindingTests {
  private func token(
    _ key: String = "KEY1", _ number: UInt8 = 0, team: String = "TEAM1", topics: [String] = [],
    environments: EnvironmentSet = .both, related: String? = nil
  ) throws -> VerifiedProviderToken {
    let parsed = try ProviderToken.parse(Array(TestToken.raw.utf8)).get()
    let record = ProviderKeyRecord(
      keyId: key, teamId: team, topics: try topics.map { try topic($0) }, environments: environments,
      relatedKeyId: related)
    return VerifiedProviderToken(parsed, key: record, fingerprint: Array(key.utf8) + [number])
  }

  private func unlimited() -> ProviderConnectionBinding.Options {
    var options = ProviderConnectionBinding.Options()
    options.updates.scope = .off
    return options
  }

  private func admit(
    _ token: VerifiedProviderToken, _ binding: inout ProviderConnectionBinding, after seconds: Int64 = 0
  ) -> Rejection? {
    binding.admit(token, environment: .sandbox, now: Fixture.now.adding(seconds: seconds))?.rejection
  }

  @Test("the same token is good for ever")
  func sameToken() throws {
    var binding = ProviderConnectionBinding()
    #expect(admit(try token(), &binding) == nil)
    #expect(admit(try token(), &binding, after: 1) == nil)
    #expect(admit(try token(), &binding, after: 10_000) == nil)
  }

  /// One Perl library's documented way is to send a second token at once
  /// (`Documentation/provider-api.md#what-clients-do`).
  @Test("the first renewal is free, a third token within twenty minutes is too many, later it is fine")
  func renewal() throws {
    var binding = ProviderConnectionBinding()
    #expect(admit(try token("KEY1", 1), &binding) == nil)
    #expect(admit(try token("KEY1", 2), &binding, after: 1) == nil)
    #expect(admit(try token("KEY1", 3), &binding, after: 1199) == .tooManyProviderTokenUpdates)
    #expect(admit(try token("KEY1", 3), &binding, after: 1200) == nil)
    #expect(admit(try token("KEY1", 4), &binding, after: 1200) == .tooManyProviderTokenUpdates)
    #expect(admit(try token("KEY1", 4), &binding, after: 1201) == nil)
  }

  @Test("after one token too many the connection is unusable until time has passed, whatever token comes (E)")
  func unusable() throws {
    var options = ProviderConnectionBinding.Options()
    options.updates.tokensPerInterval = 1
    var binding = ProviderConnectionBinding(options: options)
    let first = try token("KEY1", 1)
    #expect(admit(first, &binding) == nil)
    #expect(admit(try token("KEY1", 2), &binding, after: 600) == .tooManyProviderTokenUpdates)
    #expect(admit(first, &binding, after: 600) == .tooManyProviderTokenUpdates)
    #expect(admit(try token("KEY1", 1), &binding, after: 1199) == .tooManyProviderTokenUpdates)
    #expect(admit(first, &binding, after: 1200) == nil)
    #expect(admit(first, &binding, after: 1201) == nil)
  }

  @Test("the number of tokens, the interval and the counting can be set")
  func updatePolicy() throws {
    var options = ProviderConnectionBinding.Options()
    options.updates.tokensPerInterval = 3
    options.updates.intervalSeconds = 60
    var binding = ProviderConnectionBinding(options: options)
    for number in 1...3 as ClosedRange<UInt8> { #expect(admit(try token("KEY1", number), &binding) == nil) }
    #expect(admit(try token("KEY1", 2), &binding, after: 59) == nil)
    #expect(admit(try token("KEY1", 4), &binding, after: 59) == .tooManyProviderTokenUpdates)
    #expect(admit(try token("KEY1", 4), &binding, after: 60) == nil)
    var off = ProviderConnectionBinding(options: unlimited())
    for number in 1...100 as ClosedRange<UInt8> { #expect(admit(try token("KEY1", number), &off) == nil) }
  }

  @Test("counted by team, the tokens of all its connections are one number")
  func teamScope() throws {
    var options = ProviderConnectionBinding.Options()
    options.updates.scope = .team
    options.updates.tokensPerInterval = 1
    let shared = TeamTokenUpdates()
    var first = ProviderConnectionBinding(options: options, teamUpdates: shared)
    var second = ProviderConnectionBinding(options: options, teamUpdates: shared)
    #expect(admit(try token("KEY1", 1), &first) == nil)
    #expect(admit(try token("KEY1", 1), &second) == nil, "the same token on two connections")
    #expect(admit(try token("KEY1", 2), &second, after: 1) == .tooManyProviderTokenUpdates)
    var other = ProviderConnectionBinding(options: options, teamUpdates: shared)
    #expect(admit(try token("KEY1", 3, team: "TEAM2"), &other, after: 1) == nil)
  }

  @Test("the tokens of 10,000 teams are counted, and with one team more all begin again")
  func teams() throws {
    var options = ProviderConnectionBinding.Options()
    options.updates.scope = .team
    options.updates.tokensPerInterval = 1
    let shared = TeamTokenUpdates()
    let parsed = try ProviderToken.parse(Array(TestToken.raw.utf8)).get()
    func admit(_ number: UInt8, team: Int) -> Rejection? {
      var binding = ProviderConnectionBinding(options: options, teamUpdates: shared)
      let record = ProviderKeyRecord(keyId: "KEY1", teamId: "TEAM\(team)")
      return self.admit(VerifiedProviderToken(parsed, key: record, fingerprint: [number]), &binding)
    }
    for team in 1...10_000 { if admit(1, team: team) != nil { Issue.record("\(team)") } }
    #expect(admit(2, team: 1) == .tooManyProviderTokenUpdates)
    #expect(admit(1, team: 10_001) == nil)
    #expect(admit(2, team: 1) == nil)
  }

  @Test("counted by connection, another connection is fresh")
  func connectionScope() throws {
    let shared = TeamTokenUpdates()
    var first = ProviderConnectionBinding(teamUpdates: shared)
    var second = ProviderConnectionBinding(teamUpdates: shared)
    #expect(admit(try token("KEY1", 1), &first) == nil)
    #expect(admit(try token("KEY1", 2), &second) == nil)
  }

  @Test("a clock that is set back does not open the interval")
  func clockBack() throws {
    var binding = ProviderConnectionBinding()
    #expect(admit(try token("KEY1", 1), &binding) == nil)
    #expect(admit(try token("KEY1", 2), &binding) == nil)
    #expect(admit(try token("KEY1", 3), &binding, after: -10_000) == .tooManyProviderTokenUpdates)
  }

  @Test("another team never follows")
  func otherTeam() throws {
    var binding = ProviderConnectionBinding()
    #expect(admit(try token(), &binding) == nil)
    #expect(admit(try token(team: "TEAM2"), &binding, after: 5000) == .invalidProviderToken)
    #expect(admit(try token(), &binding, after: 5000) == nil)
    var options = ProviderConnectionBinding.Options()
    options.otherTeam = .forbidden
    var other = ProviderConnectionBinding(options: options)
    #expect(admit(try token(), &other) == nil)
    #expect(admit(try token(team: "TEAM2"), &other) == .forbidden)
  }

  @Test("a key of the other environment is refused in the spelling asked for, and does not bind")
  func otherEnvironment() throws {
    var binding = ProviderConnectionBinding()
    let production = try token(environments: .production)
    #expect(admit(production, &binding) == .badEnvironmentKeyInToken)
    #expect(admit(try token("KEY2", team: "TEAM2"), &binding) == nil)
    var options = ProviderConnectionBinding.Options()
    options.otherEnvironment = .badEnvironmentKeyIdInToken
    var documented = ProviderConnectionBinding(options: options)
    #expect(admit(production, &documented) == .badEnvironmentKeyIdInToken)
    #expect(documented.admit(production, environment: .production, now: Fixture.now) == nil)
  }

  @Test("keys of the whole team may follow each other")
  func teamKeys() throws {
    var binding = ProviderConnectionBinding(options: unlimited())
    #expect(admit(try token("KEY1"), &binding) == nil)
    #expect(admit(try token("KEY2"), &binding) == nil)
  }

  @Test("a key for topics and any key that is not related do not follow each other")
  func topicKeys() throws {
    let wide = try token("WIDE")
    let narrow = try token("NARROW", topics: ["com.example.a"])
    let next = try token("NEXT", topics: ["com.example.a"], related: "NARROW")
    let other = try token("OTHER", topics: ["com.example.a"])
    let cases: [(VerifiedProviderToken, VerifiedProviderToken, Rejection?)] = [
      (narrow, wide, .unrelatedKeyIdInToken), (wide, narrow, .unrelatedKeyIdInToken),
      (narrow, other, .unrelatedKeyIdInToken), (narrow, next, nil), (next, narrow, nil),
    ]
    for (first, second, expected) in cases {
      var binding = ProviderConnectionBinding(options: unlimited())
      #expect(admit(first, &binding) == nil)
      #expect(admit(second, &binding) == expected, "\(first.keyId), then \(second.keyId)")
    }
  }

  @Test("an unrelated key is called that, although it is also a second token")
  func unrelatedFirst() throws {
    var binding = ProviderConnectionBinding()
    #expect(admit(try token("NARROW", topics: ["com.example.a"]), &binding) == nil)
    #expect(admit(try token("WIDE"), &binding) == .unrelatedKeyIdInToken)
  }
}
