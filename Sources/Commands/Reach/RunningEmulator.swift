import Platform
import PushModel
import Transport

/// Where a running emulator is: `--ports-file`, else `APNS_EMULATOR_PORTS_FILE`, else the default ports.
struct RunningEmulator {
  private static let defaults: [String: UInt16] = [
    "gateway": 2195, "feedback": 2196, "provider": 2197, "courier": 5223, "console": 8790,
  ]

  private var addresses: [String: SocketAddress] = [:]
  /// Path of the CA certificate.
  let ca: String
  /// The certs folder.
  let certs: String

  /// Reads the ports file that `settings` or the environment name; without one, the default ports and `certs`.
  init(_ settings: Settings, certs folder: String? = nil) throws {
    guard
      let path = settings[CommonFlags.portsFile] ?? ProcessEnvironment.variables["APNS_EMULATOR_PORTS_FILE"]
    else {
      certs = folder ?? "certs"
      ca = certs + "/ca.pem"
      addresses = Self.defaults.mapValues { SocketAddress(host: "127.0.0.1", port: $0) }
      return
    }
    guard case .object(let members)? = JSONReader.read(try TextFile.read(path)) else {
      throw CommandFailure("\(path) is not a ports file")
    }
    let texts = Dictionary(members.compactMap { name, value in value.text(name) }, uniquingKeysWith: { $1 })
    certs = folder ?? texts["certs"] ?? "certs"
    ca = texts["ca"] ?? certs + "/ca.pem"
    addresses = Dictionary(
      members.compactMap { name, value in value.address(name) }, uniquingKeysWith: { $1 })
  }

  /// One listener; a failure that says what to do if it is off.
  func address(_ listener: String) throws -> SocketAddress {
    guard let address = addresses[listener] else {
      throw CommandFailure("the running emulator has its \(listener) listener off")
    }
    return address
  }

  /// A request to the console; what goes wrong is said with how to start an emulator.
  func ask(_ method: String, _ target: String, fields: [HTTPField] = [], body: [UInt8] = []) throws
    -> HTTPResponse
  {
    let address = try address("console")
    do {
      return try HTTP1Client(address).send(method, target, fields: fields, body: body)
    } catch let error as SocketError {
      throw Self.notRunning(error.description)
    }
  }

  static func notRunning(_ why: String) -> CommandFailure {
    CommandFailure("\(why); is an emulator running? start one with: apns-emulator serve")
  }
}

extension JSONValue {
  fileprivate func text(_ name: String) -> (String, String)? {
    if case .string(let text) = self { return (name, text) }
    return nil
  }

  fileprivate func address(_ name: String) -> (String, SocketAddress)? {
    guard case .object(let members) = self else { return nil }
    var (host, port): (String?, UInt16?) = (nil, nil)
    for (key, value) in members {
      switch (key, value) {
      case ("host", .string(let text)): host = text
      case ("port", .integer(let number)): port = UInt16(exactly: number)
      default: continue
      }
    }
    guard let host, let port else { return nil }
    return (name, SocketAddress(host: host, port: port))
  }

  /// A member of an object; nil if there is none, or this is no object.
  subscript(name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.0 == name }?.1
  }

  /// The text of a string value.
  var string: String? {
    if case .string(let text) = self { return text }
    return nil
  }
}
