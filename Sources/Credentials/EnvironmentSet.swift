import PushModel

/// The environments that a certificate or a token key may use.
public struct EnvironmentSet: OptionSet, Hashable, Sendable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let sandbox = EnvironmentSet(rawValue: 1 << Environment.sandbox.rawValue)
  public static let production = EnvironmentSet(rawValue: 1 << Environment.production.rawValue)
  public static let both: EnvironmentSet = [.sandbox, .production]

  /// The set that holds one environment.
  public init(_ environment: Environment) { self.init(rawValue: 1 << environment.rawValue) }

  /// The set that holds these.
  public init(_ environments: [Environment]) { self.init(environments.map { EnvironmentSet($0) }) }

  /// Reads a word of `--environment`: `both`, or the name of one environment; nil for anything else.
  public init?(name: String) {
    if name == "both" {
      self = .both
    } else if let environment = Environment(name: name) {
      self.init(environment)
    } else {
      return nil
    }
  }

  /// Whether `environment` may be used.
  public func contains(_ environment: Environment) -> Bool { contains(EnvironmentSet(environment)) }

  /// The members, sandbox first.
  public var environments: [Environment] { Environment.allCases.filter { contains($0) } }

  /// `sandbox`, `production`, `both` or `none`.
  public var name: String {
    switch environments.count {
    case 0: "none"
    case 1: environments[0].name
    default: "both"
    }
  }
}
