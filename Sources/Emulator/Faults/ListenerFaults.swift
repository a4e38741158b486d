import Basics
import Faults
import Platform
import Services
import Transport

/// Faults of new connections, and what watchers hear of connections that come and go.
extension FaultService {
  func watch(of place: FaultPlace) -> ListenerWatch {
    let name = place.rawValue
    return ListenerWatch(
      admit: { [unowned self] in admission(place, $0) }, opened: { [unowned self] in tellOpened($0, name) },
      closed: { [unowned self] connection, reason in
        tell(
          "connection",
          Self.members(name, "closed", connection.remoteAddress) + [
            ("reason", .string(reason)), ("bytesRead", .integer(Int64(connection.bytesRead))),
            ("bytesWritten", .integer(Int64(connection.bytesWritten))),
          ])
      })
  }

  func watchOfConsole() -> ListenerWatch {
    announcement(
      of: FaultPlace.console.rawValue, admit: { [unowned self] in admission(.console, $0) })
  }

  /// Tells watchers of a server's connections. Of the proxy: until they are those of the listener that they were led to.
  func announcement(
    of name: String, admit: @escaping (_ address: () -> SocketAddress) -> Admission = { _ in .welcome }
  ) -> ListenerWatch {
    ListenerWatch(
      admit: admit, opened: { [unowned self] in tellOpened($0, name) },
      closed: { [unowned self] connection, _ in
        tell("connection", Self.members(name, "closed", connection.remoteAddress))
      })
  }

  private func tellOpened(_ connection: SocketConnection, _ name: String) {
    // Asked for now, as a closed socket has no peer.
    let address = connection.remoteAddress
    tell("connection", Self.members(name, "opened", address))
  }

  private func admission(_ place: FaultPlace, _ address: () -> SocketAddress) -> Admission {
    guard engine.injectsIntoConnections else { return .welcome }
    var point = FaultPoint(.connection, at: place)
    point.connection = address().description
    guard let effects = decide(point)?.effects else { return .welcome }
    if effects.refuses { return .refused }
    return effects.tlsAlert.map { .alerted($0) }
      ?? effects.initialStreamLimit.map { .limited(streams: $0) } ?? .welcome
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
