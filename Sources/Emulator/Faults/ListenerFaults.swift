import Basics
import Faults
import Platform
import Runtime
import Transport

/// Faults of new connections, and what watchers hear of connections that come and go.
extension FaultService {
  func watch(_ listener: SocketListener, _ place: FaultPlace) {
    let name = place.rawValue
    listener.admit = { [unowned self] in admission(place, $0) }
    listener.onOpened = { [unowned self] connection in
      // Asked for now, as a closed socket has no peer.
      let address = connection.remoteAddress
      tell("connection", Self.members(name, "opened", address))
    }
    listener.onClosed = { [unowned self] connection, reason in
      tell(
        "connection",
        Self.members(name, "closed", connection.remoteAddress) + [
          ("reason", .string(reason)), ("bytesRead", .integer(Int64(connection.bytesRead))),
          ("bytesWritten", .integer(Int64(connection.bytesWritten))),
        ])
    }
  }

  func watch(_ server: HTTPServer) {
    server.admit = { [unowned self] in admission(.console, $0) }
    announce(server, as: FaultPlace.console.rawValue)
  }

  /// Tells watchers of its connections. Of the proxy: until they are those of the listener that they were led to.
  func announce(_ server: HTTPServer, as name: String) {
    server.onOpened = { [unowned self] in
      tell("connection", Self.members(name, "opened", $0.remoteAddress))
    }
    server.onClosed = { [unowned self] in
      tell("connection", Self.members(name, "closed", $0.remoteAddress))
    }
  }

  private func admission(_ place: FaultPlace, _ address: () -> SocketAddress) -> Admission {
    guard engine.injectsIntoConnections else { return .welcome }
    var point = FaultPoint(.connection, at: place)
    point.connection = address().description
    guard let effects = decide(point)?.effects else { return .welcome }
    return effects.refuses ? .refused : effects.tlsAlert.map { .alerted($0) } ?? .welcome
  }

  private static func members(_ listener: String, _ change: String, _ address: SocketAddress)
    -> [(String, JSONValue)]
  {
    [
      ("change", .string(change)), ("listener", .string(listener)),
      ("remoteAddress", .string(address.description)),
    ]
  }
}
