import Basics
import Platform
import PushModel
import Services

/// Where a running emulator can be reached (`Documentation/file-formats.md#ports-file`).
package struct PortsFile: Sendable {
  /// Listeners by name, in the order of the file; a listener that is off is absent.
  package var listeners: [(name: String, address: SocketAddress)] = []
  /// Absolute path of the CA certificate.
  package var ca = ""
  /// Absolute path of the certs folder.
  package var certs = ""
  /// Whose a connection is that does not say it by its server name.
  package var environment = Environment.sandbox
  /// What console and proxy ask for beyond loopback; nil on loopback. With it the file is its owner's alone.
  package var access: String?

  /// The address of one listener.
  package subscript(name: String) -> SocketAddress? { listeners.first { $0.name == name }?.address }

  /// The same as variables for a program that is started here (`Documentation/configuration.md#variables-that-exec-sets`).
  package var variables: [String: String] {
    var variables = ["APNS_EMULATOR_CA": ca, "APNS_EMULATOR_CERTS": certs]
    for (name, address) in listeners { variables["APNS_EMULATOR_\(name.uppercased())"] = "\(address)" }
    return variables
  }

  /// A path as it is from everywhere.
  static func absolute(_ path: String) -> String {
    PathCalls.absolute(path) ?? path
  }

  /// The file's content.
  package var json: JSONValue {
    let addresses = listeners.map { name, address in
      (name, JSONValue.object([("host", .string(address.host)), ("port", .integer(Int64(address.port)))]))
    }
    let token = access.map { [("access", JSONValue.string($0))] } ?? []
    return .object(
      [("pid", .integer(Int64(ProcessStatus.own)))] + addresses + [
        ("ca", .string(ca)), ("certs", .string(certs)),
      ]
        + [("environment", .string(environment.name))] + token)
  }
}

/// The hold of one emulator on its ports file, for as long as it runs.
///
///     claimed ─write→ written, locked ─giveUp→ gone
///
/// The lock is on the file itself and the system's: it ends with the process, however that ends. A process number would
/// not do, as another process may have it by now; in a container that was started again it most often has.
final class PortsFileClaim {
  private let file: FileReplacement
  private let name: String
  /// The written file, locked; nil before, and for what is no plain file.
  private var written: OpenFile?

  /// Throws if a running emulator has the file.
  init(_ path: String) throws {
    name = path
    do { file = try FileReplacement(path) } catch { throw EmulatorError(.failed, "\(error)") }
    try check()
  }

  deinit { giveUp() }

  /// Writes the file whole, unless somebody else has come in between. `prepare` runs before anybody can have read it.
  func write(_ ports: PortsFile, prepare: () -> Void) throws {
    try check()
    let bytes = ports.json.encoded + [UInt8(ascii: "\n")]
    let isSecret = ports.access != nil
    try file.write(bytes, permissions: isSecret ? 0o600 : 0o644, isSecret: isSecret) { new in
      prepare()
      guard file.isReplaceable else { return }
      written = OpenFile(sharing: new)
      written?.lockAtOnce()
    }
  }

  /// Removes the file, unless it is somebody else's by now.
  func giveUp() {
    if let own = written?.status, own.identity == FileStatus(file.path)?.identity {
      PathCalls.remove(file.path)
    }
    written = nil
  }

  private func check() throws {
    guard file.isReplaceable else { return }
    // Where the file system has no locks nobody is known to have it.
    guard let other = try? OpenFile(reading: file.path, waits: false), other.isLocked else { return }
    let owner = pid.map { " (pid \($0))" } ?? ""
    throw EmulatorError(
      .failed,
      "the ports file \(name) is that of a running emulator\(owner); name another with --ports-file, or unset "
        + "APNS_EMULATOR_PORTS_FILE")
  }

  /// The process that the file names.
  private var pid: Int64? {
    guard let bytes = try? TextFile.read(file.path),
      case .integer(let number)? = JSONReader.read(bytes)?.member("pid")
    else { return nil }
    return number
  }
}
