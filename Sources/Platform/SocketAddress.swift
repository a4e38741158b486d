import CLibrary

/// A numeric or named TCP address.
public struct SocketAddress: Hashable, Sendable, CustomStringConvertible {
  public var host: String
  public var port: UInt16

  public init(host: String, port: UInt16) {
    self.host = host
    self.port = port
  }

  /// Reads `host:port` or `[v6]:port`; nil for anything else.
  public init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
      return nil
    }
    var host = text[..<colon]
    if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
    guard !host.isEmpty else { return nil }
    self.init(host: String(host), port: port)
  }

  public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

  /// Calls `body` with the first system address that the host resolves to; throws if it resolves to none.
  func withSystemAddress<Result>(
    _ body: (_ family: Int32, UnsafePointer<sockaddr>, socklen_t) throws -> Result
  ) throws -> Result {
    let (list, status) = lookUp()
    defer { if let list { freeaddrinfo(list) } }
    guard let first = list?.pointee, let address = first.ai_addr else { throw unresolved(status) }
    return try body(first.ai_family, UnsafePointer(address), first.ai_addrlen)
  }

  /// Every address that the host resolves to, numeric, in the system's order of preference. May wait for name servers.
  public func resolved() throws(SocketError) -> [SocketAddress] {
    let (list, status) = lookUp()
    defer { if let list { freeaddrinfo(list) } }
    var addresses: [SocketAddress] = []
    var next = list
    while let entry = next?.pointee {
      if let address = entry.ai_addr { addresses.append(Self.numeric(address, entry.ai_addrlen)) }
      next = entry.ai_next
    }
    guard !addresses.isEmpty else { throw unresolved(status) }
    return addresses
  }

  /// What the system says of the host, for the caller to free; nothing unless the status is 0.
  private func lookUp() -> (list: UnsafeMutablePointer<addrinfo>?, status: Int32) {
    var hints = addrinfo()
    hints.ai_socktype = SocketCalls.streamKind
    var list: UnsafeMutablePointer<addrinfo>?
    let status = getaddrinfo(host, String(port), &hints, &list)
    return (status == 0 ? list : nil, status)
  }

  private func unresolved(_ status: Int32) -> SocketError {
    SocketError(operation: "resolve", address: description, sentence: String(cString: gai_strerror(status)))
  }

  /// Whether the host is an IP address.
  public var isNumeric: Bool {
    var bytes = [UInt8](repeating: 0, count: 16)
    return inet_pton(AF_INET, host, &bytes) == 1 || inet_pton(AF_INET6, host, &bytes) == 1
  }

  /// Whether the host is this machine, by its name or number.
  public var isLoopback: Bool {
    let isNumeric = host.allSatisfy { $0.isNumber || $0 == "." }
    return host == "localhost" || host == "::1" || isNumeric && host.hasPrefix("127.")
  }

  /// The address a socket is bound to, or its peer's; port 0 if the system does not say.
  public static func of(_ descriptor: Int32, peer: Bool) -> SocketAddress {
    var storage = sockaddr_storage()
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        _ = peer ? getpeername(descriptor, address, &size) : getsockname(descriptor, address, &size)
        return numeric(address, size)
      }
    }
  }

  private static func numeric(_ address: UnsafePointer<sockaddr>, _ size: socklen_t) -> SocketAddress {
    var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    var port = [CChar](repeating: 0, count: Int(NI_MAXSERV))
    getnameinfo(
      address, size, &host, socklen_t(host.count), &port, socklen_t(port.count),
      NI_NUMERICHOST | NI_NUMERICSERV)
    return SocketAddress(host: String(characters: host), port: UInt16(String(characters: port)) ?? 0)
  }
}
