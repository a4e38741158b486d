import Basics
import ConsoleAnswers

/// An open connection. Filled in by the emulator.
package struct ConnectionReport {
  /// What TLS has agreed on; nil for what is not known of one that is closed, or was not said.
  package struct TLS {
    package var (version, cipher, serverName): (String?, String?, String?)
    /// Where a proxy's client wanted to go.
    package var proxy: String?
    package var alpn: String?
    /// The common name of the peer's certificate.
    package var peer: String?

    package init() {}
  }

  package var listener: String
  package var remoteAddress: String
  /// nil for a listener without TLS.
  package var tls: TLS?
  package var (bytesRead, bytesWritten): (Int, Int)
  /// What the peer has not taken yet.
  package var queuedBytes: Int?
  /// Of HTTP/1.1, how many it has had; of HTTP/2, streams that are open.
  package var (requests, streams): (Int?, Int?)
  /// Devices that it serves, by their UDIDs.
  package var devices: [String]?
  /// The device's address, where another node has it.
  package var relayedFor: String?
  /// The node that serves a device that has connected here.
  package var node: String?

  package init(_ listener: String, remoteAddress: String, bytesRead: Int, bytesWritten: Int) {
    (self.listener, self.remoteAddress) = (listener, remoteAddress)
    (self.bytesRead, self.bytesWritten) = (bytesRead, bytesWritten)
  }
}

extension ConnectionReport: JSONAnswer {
  package static let shape = JSONShape<ConnectionReport>([
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

/// Every open connection.
package struct ConnectionGroup: RouteGroup {
  private let list: () -> [() -> ConnectionReport]

  /// `list`: each to be described when its turn comes.
  package init(list: @escaping () -> [() -> ConnectionReport]) { self.list = list }

  package var routes: [Route] {
    [
      .get(
        "/api/v1/connections", "Every open connection",
        .document { _ in GrowingDocument([.list("connections", of: list()) { .value($0().json) }]) }
      )
      .answers(200, "Connections", .list("connections", of: ConnectionReport.schema))
    ]
  }
}
