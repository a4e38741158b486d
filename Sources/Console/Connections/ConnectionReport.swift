import PushModel

/// An open connection. Filled in by the emulator.
public struct ConnectionReport {
  /// What TLS has agreed on; nil for what is not known of one that is closed, or was not said.
  public struct TLS {
    public var (version, cipher, serverName): (String?, String?, String?)
    /// Where a proxy's client wanted to go.
    public var proxy: String?
    public var alpn: String?
    /// The common name of the peer's certificate.
    public var peer: String?

    public init() {}
  }

  public var listener: String
  public var remoteAddress: String
  /// nil for a listener without TLS.
  public var tls: TLS?
  public var (bytesRead, bytesWritten): (Int, Int)
  /// What the peer has not taken yet.
  public var queuedBytes: Int?
  /// Of HTTP/1.1, how many it has had; of HTTP/2, streams that are open.
  public var (requests, streams): (Int?, Int?)
  /// Devices that it serves, by their UDIDs.
  public var devices: [String]?
  /// The device's address, where another node has it.
  public var relayedFor: String?
  /// The node that serves a device that has connected here.
  public var node: String?

  public init(_ listener: String, remoteAddress: String, bytesRead: Int, bytesWritten: Int) {
    (self.listener, self.remoteAddress) = (listener, remoteAddress)
    (self.bytesRead, self.bytesWritten) = (bytesRead, bytesWritten)
  }
}

extension ConnectionReport: JSONAnswer {
  public static let shape = JSONShape<ConnectionReport>([
    "listener": .show("courier") { $0.listener },
    "remoteAddress": .show("127.0.0.1:50123") { $0.remoteAddress },
    "tlsVersion": .show("TLSv1.3") { $0.tls?.version },
    "cipher": .maybe("TLS_AES_256_GCM_SHA384") { $0.tls.map(\.cipher) },
    "serverName": .maybe(.null) { $0.tls.map(\.serverName) }, "proxy": .maybe(.null) { $0.tls.map(\.proxy) },
    "alpn": .maybe("apns-security-v3") { $0.tls.map(\.alpn) }, "peer": .maybe(.null) { $0.tls.map(\.peer) },
    "requests": .maybe { $0.requests }, "bytesRead": .show(2140) { $0.bytesRead },
    "bytesWritten": .show(310) { $0.bytesWritten }, "queuedBytes": .maybe(0) { $0.queuedBytes },
    "streams": .maybe { $0.streams }, "devices": .maybe([JSONExample.udid]) { $0.devices },
    "relayedFor": .maybe { $0.relayedFor }, "node": .maybe { $0.node },
  ]).named("Connection")
}
