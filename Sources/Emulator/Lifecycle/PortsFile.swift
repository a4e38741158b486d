import Platform
import PushModel

/// Where a running emulator can be reached (`interface.md`, Ports file).
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

  /// Writes the file whole: to a temporary name beside it, then renamed.
  func write(to path: String) throws {
    let temporary = "\(path).\(getpid()).tmp"
    guard let file = fopen(temporary, "w") else { throw SocketError.last("write", temporary) }
    let bytes = json.encoded + [UInt8(ascii: "\n")]
    let written = fwrite(bytes, 1, bytes.count, file)
    guard fclose(file) == 0, written == bytes.count, rename(temporary, path) == 0 else {
      throw SocketError.last("write", path)
    }
  }
}
