/// Apple's kinds of push certificates, told apart by the beginning of the common name (`spec/provider-protocol.md` C.1).
public enum PushCertificateKind: Sendable, CaseIterable, Hashable {
  case developmentIOS, productionIOS, developmentMac, productionMac, universal, sandbox
  case voip, watchKit, website, pass, mdm

  /// What the common name begins with, the topic (or for MDM a UUID) following.
  public var prefix: String {
    switch self {
    case .developmentIOS: "Apple Development IOS Push Services: "
    case .productionIOS: "Apple Production IOS Push Services: "
    case .developmentMac: "Apple Development Mac Push Services: "
    case .productionMac: "Apple Production Mac Push Services: "
    case .universal: "Apple Push Services: "
    case .sandbox: "Apple Sandbox Push Services: "
    case .voip: "VoIP Services: "
    case .watchKit: "WatchKit Services: "
    case .website: "Website Push ID: "
    case .pass: "Pass Type ID: "
    case .mdm: "APSP:"
    }
  }

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

  /// The kind that Apple would issue for an iOS app; nil for no environment.
  static func issued(for environments: EnvironmentSet) -> PushCertificateKind? {
    switch environments {
    case .sandbox: .developmentIOS
    case .production: .productionIOS
    case .both: .universal
    default: nil
    }
  }
}
