import PushModel

/// The environments that a certificate or a token key may use.
package struct EnvironmentSet: OptionSet, Hashable, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let sandbox = EnvironmentSet(rawValue: 1 << Environment.sandbox.rawValue)
  package static let production = EnvironmentSet(rawValue: 1 << Environment.production.rawValue)
  package static let both: EnvironmentSet = [.sandbox, .production]

  /// The set that holds one environment.
  package init(_ environment: Environment) { self.init(rawValue: 1 << environment.rawValue) }

  /// The set that holds these.
  package init(_ environments: [Environment]) { self.init(environments.map { EnvironmentSet($0) }) }

  /// Reads a word of `--environment`: `both`, or the name of one environment; nil for anything else.
  package init?(name: String) {
    if name == "both" {
      self = .both
    } else if let environment = Environment(name: name) {
      self.init(environment)
    } else {
      return nil
    }
  }

  /// Whether `environment` may be used.
  package func contains(_ environment: Environment) -> Bool { contains(EnvironmentSet(environment)) }

  /// The members, sandbox first.
  package var environments: [Environment] { Environment.allCases.filter { contains($0) } }

  /// `sandbox`, `production`, `both` or `none`.
  package var name: String {
    switch environments.count {
    case 0: "none"
    case 1: environments[0].name
    default: "both"
    }
  }
}
