import Platform

/// Other people's servers that the benchmark compares with.
enum ReferenceServer {
  /// A port that was free a moment ago.
  static func freePort() throws -> UInt16 {
    try SocketAddress(host: "127.0.0.1", port: 0).withSystemAddress { family, address, size in
      let descriptor = SocketCalls.makeStreamSocket(family)
      defer { _ = Platform.close(descriptor) }
      guard bind(descriptor, address, size) == 0 else { throw SocketError.last("bind", "127.0.0.1") }
      return SocketAddress.of(descriptor, peer: false).port
    }
  }

  static func nghttpd(site: BenchmarkSite, port: UInt16) throws -> ChildProcess {
    try started(
      ChildProcess(
        "/usr/bin/env",
        [
          "nghttpd", "-n", "1", "-d", site.folder, "-a", "127.0.0.1", "\(port)", site.certs.serverKey,
          site.certs.serverCertificate,
        ]), port
    ) { accepts(port) }
  }

  /// Tried with a whole handshake, as it complains on standard error of a client that leaves before.
  static func openssl(site: BenchmarkSite, port: UInt16) throws -> ChildProcess {
    let address = SocketAddress(host: "127.0.0.1", port: port)
    return try started(
      ChildProcess(
        "/usr/bin/env",
        [
          "openssl", "s_server", "-quiet", "-accept", "127.0.0.1:\(port)", "-cert",
          site.certs.serverCertificate,
          "-key", site.certs.serverKey, "-no_ticket",
        ]), port
    ) { (try? HandshakeLoad.rate(to: address, ca: site.certs.caCertificate, count: 1)) != nil }
  }

  /// How often a server that is starting is tried, and how long between, in microseconds. These programs don't say when
  /// they are ready.
  private static let attempts = 200
  private static let pause: UInt32 = 10_000

  private static func started(
    _ child: ChildProcess, _ port: UInt16, isReady: () -> Bool
  ) throws -> ChildProcess {
    for _ in 0..<attempts {
      if isReady() { return child }
      usleep(pause)
    }
    throw SocketError(
      operation: "start", address: "a reference server", sentence: "it does not accept on \(port)")
  }

  private static func accepts(_ port: UInt16) -> Bool {
    let connected = try? SocketAddress(host: "127.0.0.1", port: port).withSystemAddress {
      family, address, size in
      #if canImport(Darwin)
        let descriptor = socket(family, SOCK_STREAM, 0)
      #else
        let descriptor = socket(family, Int32(SOCK_STREAM.rawValue), 0)
      #endif
      defer { _ = Platform.close(descriptor) }
      return connect(descriptor, address, size) == 0
    }
    return connected ?? false
  }
}
