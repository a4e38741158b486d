import ProviderAPI
import PushModel
import Testing

@Suite("Certificates over HTTP/2")
struct CertificateRulesTests {
  private static let universal = ["com.example.app", "com.example.app.voip", "com.example.app.complication"]

  /// `Documentation/provider-api.md#topics-extension`: which topic of which push type a certificate may use; nil for
  /// 200.
  struct Rule: CustomTestStringConvertible, Sendable {
    var topics: [String]
    var implied: String?
    var topic: String?
    var type: String?
    var rejection: Rejection?
    var testDescription: String { "\(type ?? "-") \(topic ?? "-") with \(topics)" }
  }

  static let rules = [
    Rule(topics: ["com.example.app"], implied: "com.example.app", topic: nil, type: "alert", rejection: nil),
    Rule(topics: ["com.example.app"], implied: "com.example.app", topic: "com.example.app", rejection: nil),
    Rule(topics: universal, implied: nil, topic: nil, type: "alert", rejection: .missingTopic),
    Rule(topics: universal, implied: nil, topic: "com.example.app", type: "alert", rejection: nil),
    Rule(
      topics: universal, implied: nil, topic: "com.example.other", type: "alert", rejection: .topicDisallowed),
    Rule(topics: universal, implied: nil, topic: "com.example.app.voip", type: "voip", rejection: nil),
    Rule(topics: universal, implied: nil, topic: "com.example.app.complication", type: "complication"),
    Rule(
      topics: ["com.example.app"], implied: "com.example.app", topic: "com.example.app.voip", type: "voip",
      rejection: .topicDisallowed),
    Rule(
      topics: ["com.example.app"], implied: "com.example.app", topic: "com.example.app.complication",
      type: "complication", rejection: .topicDisallowed),
    Rule(
      topics: universal, implied: nil, topic: "com.example.app.location-query", type: "location",
      rejection: .topicDisallowed),
    Rule(
      topics: universal + ["com.example.app.location-query"], implied: nil,
      topic: "com.example.app.location-query",
      type: "location", rejection: .topicDisallowed),
    Rule(
      topics: universal, implied: nil, topic: "com.example.app.push-type.liveactivity", type: "liveactivity",
      rejection: .topicDisallowed),
    Rule(
      topics: universal, implied: nil, topic: "com.example.app.pushkit.fileprovider", type: "fileprovider",
      rejection: .topicDisallowed),
    Rule(
      topics: universal, implied: nil, topic: "com.example.app.voip-ptt", type: "pushtotalk",
      rejection: .topicDisallowed),
    Rule(
      topics: universal, implied: nil, topic: "com.example.app.push-type.widgets", type: "widgets",
      rejection: .topicDisallowed),
    Rule(
      topics: universal, implied: nil, topic: "com.example.app.push-type.controls", type: "controls",
      rejection: .topicDisallowed),
    Rule(
      topics: universal + ["com.example.app.pushkit.fileprovider"], implied: nil,
      topic: "com.example.app.pushkit.fileprovider", type: "fileprovider"),
    Rule(
      topics: universal + ["com.example.app.voip-ptt"], implied: nil, topic: "com.example.app.voip-ptt",
      type: "pushtotalk"),
    Rule(
      topics: ["com.apple.mgmt.External.1234"], implied: "com.apple.mgmt.External.1234", topic: nil,
      type: "mdm"),
  ]

  /// `Documentation/provider-api.md#topics-extension`.
  @Test("may use the topics that the certificate gives", arguments: rules)
  func coverage(_ rule: Rule) {
    let directory = Sample.directory()
    directory.standings[Sample.token(Sample.token)]?["com.apple.mgmt.External.1234"] = .active(
      RegistrationID(0))
    let check = Sample.check(Sample.certificate(rule.topics, implied: rule.implied), directory: directory)
    let message = Sample.message([("apns-topic", rule.topic), ("apns-push-type", rule.type)])
    #expect(check.judge(message, now: Sample.now).rejected?.rejection == rule.rejection)
  }

  /// `Documentation/provider-api.md#request`.
  @Test("need no provider token and ignore a bad one")
  func authorizationIgnored() {
    let check = Sample.check(Sample.certificate())
    for value in [nil, "bearer bad", "nonsense"] {
      let message = Sample.message([("authorization", value)])
      #expect(check.judge(message, now: Sample.now).accepted != nil)
    }
  }

  /// `Documentation/provider-api.md#environment-mismatch`, `#reasons`.
  @Test("are refused in the other environment, once for the connection and for each request")
  func environment() {
    let identity = Sample.certificate(implied: nil, environments: [.production])
    #expect(identity.connectionRejection(in: .sandbox) == .badCertificateEnvironment)
    #expect(identity.connectionRejection(in: .production) == nil)
    let verdict = Sample.check(identity).judge(Sample.message(), now: Sample.now)
    #expect(verdict.rejected?.rejection == .badCertificateEnvironment)
  }

  @Test("without any topic are bad certificates")
  func withoutTopic() {
    let verdict = Sample.check(Sample.certificate([], implied: nil)).judge(Sample.message(), now: Sample.now)
    #expect(verdict.rejected?.rejection == .badCertificate)
  }

  @Test("and tokens that strict refuses are let through by lenient, with the reason noted")
  func lenient() throws {
    var options = ProviderCheckOptions()
    options.isLenient = true
    let disallowed = Sample.message([("apns-topic", "com.example.app")])
    let check = Sample.check(Sample.certificate(["com.other"], implied: nil), options: options)
    for _ in 0..<2 {
      let accepted = try #require(check.judge(disallowed, now: Sample.now).accepted)
      #expect(accepted.waived.map(\.rejection) == [.topicDisallowed])
    }
    let byToken = Sample.check(options: options)
    for (value, rejection) in [(nil, Rejection.missingProviderToken), ("bearer bad", .invalidProviderToken)] {
      let accepted = byToken.judge(Sample.message([("authorization", value)]), now: Sample.now).accepted
      #expect(accepted?.waived.map(\.rejection) == [rejection])
    }
    let bad = Sample.message([("authorization", nil), ("apns-priority", "7")])
    #expect(byToken.judge(bad, now: Sample.now).rejected?.rejection == .badPriority)
  }
}
