import Platform
import PushModel

/// Where a running emulator can be reached (`Documentation/commands.md#ports-file`).
public struct PortsFile: Sendable {
  /// Listeners by name, in the order of the file; a listener that is off is absent.
  public var listeners: [(name: String, address: SocketAddress)] = []
  /// Absolute path of the CA certificate.
  public var ca = ""
  /// Absolute path of the certs folder.
  public var certs = ""

  /// The address of one listener.
  public subscript(name: String) -> SocketAddress? { listeners.first { $0.name == name }?.address }

  /// The file's content.
  public var json: JSONValue {
    let addresses = listeners.map { name, address in
      (name, JSONValue.object([("host", .string(address.host)), ("port", .integer(Int64(address.port)))]))
    }
    return .object(
      [("pid", .integer(Int64(getpid())))] + addresses + [("ca", .string(ca)), ("certs", .string(certs))])
  }
}
