import Basics
import Console
import Platform

/// What people and devices show who are not trusted because of where they come from.
package struct AccessTokens: Sendable {
  /// Asked of everybody who uses console and proxy from beyond loopback; nil on loopback.
  package let console: String?
  /// Asked of devices that activate (`--activation token`): the console's, or one for them alone on loopback.
  private let activation: String?

  init(_ options: ServeOptions) {
    let (told, access) = (options.credentials.access, options.credentials.activation)
    console = SocketAddress(host: options.listeners.bind, port: 0).isLoopback ? nil : told ?? Self.make()
    activation = access == .token ? console ?? told ?? Self.make() : nil
  }

  /// The one that there is.
  package var any: String? { console ?? activation }

  /// Who may have a device activated.
  func activation(_ access: ActivationAccess) -> PeerGroup.Activation {
    switch access {
    case .open: .open
    case .token: any.map { .token($0) } ?? .off
    case .off: .off
    }
  }

  private static func make() -> String { Hex.encode([UInt8].random(16)) }
}
