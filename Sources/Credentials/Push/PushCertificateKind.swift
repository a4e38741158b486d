import PushModel

/// Apple's kinds of push certificates, told apart by the beginning of the common name
/// (`Documentation/provider-api.md#subject`).
public enum PushCertificateKind: String, Sendable, CaseIterable {
  case developmentIOS = "Apple Development IOS Push Services: "
  case productionIOS = "Apple Production IOS Push Services: "
  case developmentMac = "Apple Development Mac Push Services: "
  case productionMac = "Apple Production Mac Push Services: "
  case universal = "Apple Push Services: "
  case sandbox = "Apple Sandbox Push Services: "
  case voip = "VoIP Services: "
  case watchKit = "WatchKit Services: "
  case website = "Website Push ID: "
  case pass = "Pass Type ID: "
  case mdm = "APSP:"

  /// What the common name begins with, the topic (or for MDM a UUID) following.
  public var prefix: String { rawValue }

  /// Where a certificate of this kind may be used when its extensions don't say.
  public var environments: EnvironmentSet {
    switch self {
    case .developmentIOS, .developmentMac, .sandbox: .sandbox
    case .productionIOS, .productionMac, .website, .pass, .mdm: .production
    case .universal, .voip, .watchKit: .both
    }
  }

  /// Finds the kind of a common name; nil if it has none of the prefixes.
  public init?(commonName: String) {
    guard let kind = Self.allCases.first(where: { commonName.hasPrefix($0.prefix) }) else { return nil }
    self = kind
  }

  /// The kind that Apple would issue; nil for no environment. Some kinds are for a single topic, which tells them.
  static func issued(for topics: [Topic], in environments: EnvironmentSet) -> PushCertificateKind? {
    switch environments {
    case []: nil
    case _ where topics.count == 1 && special(topics[0]) != nil: special(topics[0])
    case .sandbox: .developmentIOS
    case .production: .productionIOS
    default: .universal
    }
  }

  private static func special(_ topic: Topic) -> PushCertificateKind? {
    if topic.name.hasSuffix(PushType.voip.topicSuffix) { return .voip }
    if topic.name.hasSuffix(PushType.complication.topicSuffix) { return .watchKit }
    return [.website, .pass, .mdm].first { topic.name.hasPrefix($0.topicPrefix) }
  }

  /// What the topics of a kind begin with; empty where that says nothing.
  private var topicPrefix: String {
    switch self {
    case .website: "web."
    case .pass: "pass."
    case .mdm: "com.apple.mgmt.External."
    default: ""
    }
  }

  /// The common name of a certificate whose first topic this is: all of it behind the prefix, of MDM's the UUID.
  func commonName(_ topic: Topic) -> String {
    prefix + (self == .mdm ? String(topic.name.dropFirst(topicPrefix.count)) : topic.name)
  }
}
