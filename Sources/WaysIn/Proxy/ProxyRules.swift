import Basics
import Platform

/// What the proxy does with a CONNECT: the hosts and ports of Apple's push service end here, and beyond them leads only what the
/// operator has named (`Documentation/proxy.md`). Pure.
package struct ProxyRules: Sendable {
  /// What is behind one of Apple's names.
  package enum Service: String, Sendable, CaseIterable {
    case gateway, feedback, provider, courier
  }

  /// Where a CONNECT leads.
  package enum Decision: Equatable, Sendable {
    /// To our own listener; the environment is that of the name (`Environment.init(serverName:)`).
    case service(Service)
    /// To a server that the operator has named.
    case outside
    /// Nowhere; the sentence says what was expected.
    case refused(String)
  }

  /// One service, the hosts that it goes by below `push.apple.com`, and the ports that Apple has it on.
  private struct Row {
    let service: Service
    let hosts: Set<String>
    /// Also a number and a dash before the host, as devices choose one.
    var isNumbered = false
    let ports: Set<UInt16>
  }

  /// `Documentation/binary-protocol.md#transport`, `#feedback`, `Documentation/provider-api.md#connection`,
  /// `#channel-management`, `Documentation/device-protocol.md#transport`.
  private static let table = [
    Row(service: .provider, hosts: ["api", "api.sandbox", "api.development"], ports: [443, 2197]),
    Row(service: .provider, hosts: ["api-broadcast", "api-broadcast.sandbox"], ports: [443, 2197]),
    Row(service: .gateway, hosts: ["gateway", "gateway.sandbox"], ports: [2195]),
    Row(service: .feedback, hosts: ["feedback", "feedback.sandbox"], ports: [2196]),
    Row(service: .gateway, hosts: ["api-manage-broadcast.sandbox"], ports: [2195]),
    Row(service: .feedback, hosts: ["api-manage-broadcast"], ports: [2196]),
    Row(service: .courier, hosts: ["courier", "courier.sandbox"], isNumbered: true, ports: [5223, 443]),
  ]
  private static let domain = ".push.apple.com"

  /// Servers that may be reached besides, in lower case.
  private let outside: Set<SocketAddress>

  /// `tunnels`: what the operator has named.
  package init(tunnels: [SocketAddress] = []) { outside = Set(tunnels.map(Self.lowercased)) }

  /// Names are compared whole and without case; Apple's go before the operator's.
  package func decision(on asked: SocketAddress) -> Decision {
    let asked = Self.lowercased(asked)
    if let label = Self.label(asked.host) {
      let rows = Self.table.filter { Self.isNamed(label, $0) }
      if let row = rows.first(where: { $0.ports.contains(asked.port) }) { return .service(row.service) }
      if let row = rows.first, !outside.contains(asked) { return .refused(Self.wrongPort(asked, row)) }
    }
    return outside.contains(asked) ? .outside : .refused(Self.stranger(asked))
  }

  /// What stands before Apple's domain; nil for another.
  private static func label(_ host: String) -> String? {
    host.hasSuffix(domain) ? String(host.dropLast(domain.count)) : nil
  }

  private static func isNamed(_ label: String, _ row: Row) -> Bool {
    guard row.isNumbered, let dash = label.firstIndex(of: "-") else { return row.hosts.contains(label) }
    let isNumber = dash > label.startIndex && label[..<dash].utf8.allSatisfy(isDigit)
    return isNumber && row.hosts.contains(String(label[label.index(after: dash)...]))
  }

  private static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }

  private static func lowercased(_ address: SocketAddress) -> SocketAddress {
    SocketAddress(host: address.host.lowercased(), port: address.port)
  }

  private static func wrongPort(_ asked: SocketAddress, _ row: Row) -> String {
    let ports = row.ports.sorted().map(String.init).joined(separator: " or ")
    return "Apple has \(shown(asked.host)) on port \(ports), not on \(asked.port)"
  }

  private static func stranger(_ asked: SocketAddress) -> String {
    "this proxy leads to Apple's push service as it is emulated here, not to \(shown(asked.description)): expected a host such as "
      + "api.push.apple.com:443 or api.sandbox.push.apple.com:443, or one that is named with --proxy-tunnel"
  }

  /// Names are 253 bytes at most (RFC 1035 2.3.4); more of what a client made up is not shown.
  private static func shown(_ text: String) -> String { String(text.prefix(260)) }
}

extension ProxyRules {
  /// The host and port that CONNECT asks for (RFC 9112 3.2.3); nil for anything else.
  package static func target(_ text: String) -> SocketAddress? {
    guard let colon = text.lastIndex(of: ":") else { return nil }
    let digits = text[text.index(after: colon)...].utf8
    // A number with a sign is none.
    guard digits.allSatisfy(isDigit), let address = SocketAddress(text), address.port > 0
    else { return nil }
    return address
  }
}
