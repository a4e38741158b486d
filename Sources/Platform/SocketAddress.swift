import Basics
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

  /// Every address that the host resolves to, numeric, in the system's order of preference. May wait for name servers.
  public func resolved() throws(SocketError) -> [SocketAddress] {
    try SystemAddress.all(of: self).map(\.numeric)
  }

  /// Whether the host is an IP address.
  public var isNumeric: Bool {
    var bytes = [UInt8](repeating: 0, count: 16)
    return unsafe inet_pton(AF_INET, host, &bytes) == 1 || inet_pton(AF_INET6, host, &bytes) == 1
  }

  /// Whether the host is this machine, by its name or number.
  public var isLoopback: Bool {
    let isNumeric = host.allSatisfy { $0.isNumber || $0 == "." }
    return host == "localhost" || host == "::1" || isNumeric && host.hasPrefix("127.")
  }

  /// The address a socket is bound to, or its peer's; port 0 if the system does not say.
  public static func of(_ descriptor: Int32, peer: Bool) -> SocketAddress {
    SystemAddress(of: descriptor, peer: peer).numeric
  }
}

/// An address as the system has it: a copy, so that nothing is to be freed.
struct SystemAddress {
  private var storage = sockaddr_storage()
  private var size = socklen_t(MemoryLayout<sockaddr_storage>.size)

  /// The address that a socket is bound to, or its peer's; of no family if the system does not say.
  init(of descriptor: Int32, peer: Bool) {
    unsafe withUnsafeMutablePointer(to: &storage) {
      let address = unsafe UnsafeMutableRawPointer($0).assumingMemoryBound(to: sockaddr.self)
      _ = unsafe peer ? getpeername(descriptor, address, &size) : getsockname(descriptor, address, &size)
    }
  }

  /// nil if it is larger than any that the system has.
  private init?(_ address: UnsafePointer<sockaddr>, _ size: socklen_t) {
    guard size <= self.size else { return nil }
    self.size = size
    unsafe withUnsafeMutableBytes(of: &storage) {
      unsafe $0.copyMemory(from: .init(start: address, count: Int(size)))
    }
  }

  /// All that a host resolves to, at least one, in the system's order of preference. May wait for name servers.
  static func all(of address: SocketAddress) throws(SocketError) -> [SystemAddress] {
    var hints = unsafe addrinfo()
    unsafe hints.ai_socktype = SocketCalls.streamKind
    var (list, addresses): (UnsafeMutablePointer<addrinfo>?, [SystemAddress]) = (nil, [])
    let status = unsafe getaddrinfo(address.host, String(address.port), &hints, &list)
    var next = unsafe status == 0 ? list : nil
    while let entry = unsafe next?.pointee {
      if let address = unsafe entry.ai_addr.flatMap({ unsafe SystemAddress($0, entry.ai_addrlen) }) {
        addresses.append(address)
      }
      unsafe next = unsafe entry.ai_next
    }
    if status == 0 { unsafe freeaddrinfo(list) }
    guard addresses.isEmpty else { return addresses }
    throw unsafe SocketError(
      operation: "resolve", address: address.description, sentence: String(cString: gai_strerror(status)))
  }

  var family: Int32 { Int32(storage.ss_family) }

  /// Gives a socket this address; answers whether the system did.
  func bind(_ descriptor: Int32) -> Bool { unsafe lend { unsafe CLibrary.bind(descriptor, $0, size) } == 0 }

  /// Begins to connect a socket to this address; answers whether the system did.
  func connect(_ descriptor: Int32) -> Bool {
    unsafe lend { unsafe CLibrary.connect(descriptor, $0, size) } == 0 || errno == EINPROGRESS
  }

  /// With the host as a number.
  var numeric: SocketAddress {
    var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    var port = [CChar](repeating: 0, count: Int(NI_MAXSERV))
    let form = NI_NUMERICHOST | NI_NUMERICSERV
    _ = unsafe lend {
      unsafe getnameinfo($0, size, &host, socklen_t(host.count), &port, socklen_t(port.count), form)
    }
    return SocketAddress(host: String(characters: host), port: UInt16(String(characters: port)) ?? 0)
  }

  private func lend(_ call: (UnsafePointer<sockaddr>) -> Int32) -> Int32 {
    unsafe withUnsafePointer(to: storage) {
      unsafe call(UnsafeRawPointer($0).assumingMemoryBound(to: sockaddr.self))
    }
  }
}
