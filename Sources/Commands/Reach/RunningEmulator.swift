import Platform
import PushModel
import Transport

/// Where a running emulator is: `--ports-file`, else `APNS_EMULATOR_PORTS_FILE`, else the default ports.
struct RunningEmulator {
  private static let defaults: [String: UInt16] = [
    "gateway": 2195, "feedback": 2196, "provider": 2197, "courier": 5223, "console": 8790,
  ]

  private var addresses: [String: SocketAddress] = [:]
  /// Whether the addresses are the default ports, which nobody has named.
  private let isGuess: Bool
  private var caPath: String
  /// As the ports file says it; nil without one.
  private let ownEnvironment: Environment?
  /// What opens a console that is bound beyond loopback.
  let credentials: [HTTPField]
  /// The certs folder.
  private(set) var certs: String

  /// Reads the ports file that `settings` or the environment name; without one, the default ports and `certs`.
  init(_ settings: Settings, certs folder: String? = nil) throws {
    let token = settings[CommonFlags.access]
    let variable = ProcessEnvironment.variables[CommonFlags.portsFile.environmentName]
    guard let path = settings[CommonFlags.portsFile] ?? variable, !path.isEmpty else {
      credentials = Self.credentials(token)
      certs = folder ?? "certs"
      caPath = certs + "/ca.pem"
      (isGuess, ownEnvironment) = (true, nil)
      addresses = Self.defaults.mapValues { SocketAddress(host: "127.0.0.1", port: $0) }
      return
    }
    let members = try Self.members(of: path)
    let texts = Dictionary(members.compactMap { name, value in value.text(name) }, uniquingKeysWith: { $1 })
    (isGuess, ownEnvironment) = (false, texts["environment"].flatMap(Environment.init(name:)))
    credentials = Self.credentials(token ?? texts["access"])
    certs = folder ?? texts["certs"] ?? "certs"
    caPath = texts["ca"] ?? certs + "/ca.pem"
    addresses = Dictionary(
      members.compactMap { name, value in value.address(name) }, uniquingKeysWith: { $1 })
  }

  private static func credentials(_ token: String?) -> [HTTPField] {
    token.map { [HTTPField("Authorization", "Bearer \($0)")] } ?? []
  }

  private static func members(of path: String) throws -> [(String, JSONValue)] {
    guard access(path, F_OK) == 0 else { throw notRunning("there is no ports file \(path)") }
    guard case .object(let members)? = JSONReader.read(try TextFile.read(path)) else {
      throw CommandFailure("\(path) is not a ports file")
    }
    return members
  }

  /// Path of the CA certificate; a failure that says what to do if there is none.
  var ca: String {
    get throws {
      guard access(caPath, R_OK) == 0 else {
        throw CommandFailure(
          "there is no CA certificate \(caPath); run this where the emulator was started, or name its folder "
            + "with --certs or --ports-file")
      }
      return caPath
    }
  }

  /// One listener; a failure that says what to do if it is off.
  func address(_ listener: String) throws -> SocketAddress {
    guard let address = addresses[listener] else {
      throw CommandFailure("the running emulator has its \(listener) listener off")
    }
    return address
  }

  /// The same by its own word, asked of the console: where its listeners and its certs folder are, if that can be read from
  /// here and no other was named. Answers its environment too.
  func asItSays() throws -> (emulator: RunningEmulator, environment: String) {
    let answer = try ask("GET", "/api/v1/info")
    guard answer.status == 200, let info = JSONReader.read(answer.body),
      let environment = info["environment"]?.string, case .object(let listeners)? = info["listeners"]
    else { throw Self.refused(answer) }
    var emulator = self
    for (name, value) in listeners where isGuess { emulator.addresses[name] = value.address(name)?.1 }
    if access(caPath, R_OK) != 0, let path = info["certs"]?.string, access("\(path)/ca.pem", R_OK) == 0 {
      (emulator.certs, emulator.caPath) = (path, "\(path)/ca.pem")
    }
    return (emulator, environment)
  }

  /// The environment of what is asked for: `chosen` by a flag, else the emulator's own. One that does not tell, as its console is off or
  /// wants an access token, is taken for one of the sandbox, as it is without a flag of its own.
  func environment(_ chosen: Environment? = nil) -> Environment {
    chosen ?? ownEnvironment ?? (try? asItSays()).flatMap { Environment(name: $0.environment) } ?? .sandbox
  }

  /// For usual requests, in nanoseconds.
  static let usualTime: Int64 = 10_000_000_000

  /// A request to the console, which gets an answer within `timeout` nanoseconds.
  func ask(
    _ method: String, _ target: String, fields: [HTTPField] = [], body: [UInt8] = [],
    timeout: Int64 = usualTime
  ) throws -> HTTPResponse {
    let address = try address("console")
    return try Self.reaching {
      try HTTP1Client(address, timeout: timeout).send(
        method, target, fields: fields + credentials, body: body)
    }
  }

  /// Does something at the console; what goes wrong is said with how to start an emulator.
  static func reaching(_ body: () throws -> HTTPResponse) throws -> HTTPResponse {
    do {
      return try body()
    } catch let error as SocketError {
      throw notRunning(error.description)
    }
  }

  static func notRunning(_ why: String) -> CommandFailure {
    CommandFailure("\(why); is an emulator running? start one with: apns-emulator serve")
  }

  /// A listener did not answer; `why` is nil if nothing at all came in time.
  static func unreachable(_ address: SocketAddress, _ why: String?) -> CommandFailure {
    guard let why else { return CommandFailure("\(address): no answer in time") }
    return why.contains("can't connect")
      ? notRunning("\(address): \(why)")
      : CommandFailure("\(address): \(TLSRefusal(why)?.description ?? why)")
  }

  /// The console's own sentence, where its answer has one.
  static func refused(_ answer: HTTPResponse, about path: String? = nil) -> CommandFailure {
    let sentence =
      answer.status == 401
      ? "it asks for the access token that serve printed; give it with --access TOKEN, or in "
        + CommonFlags.access.environmentName
      : JSONReader.read(answer.body)?["error"]?["message"]?.string
    return CommandFailure(
      (path.map { "\($0): " } ?? "")
        + "the console answered \(answer.status): \(sentence ?? String(decoding: answer.body, as: UTF8.self))"
    )
  }
}

extension JSONValue {
  fileprivate func text(_ name: String) -> (String, String)? {
    if case .string(let text) = self { return (name, text) }
    return nil
  }

  fileprivate func address(_ name: String) -> (String, SocketAddress)? {
    guard let host = string("host"), let port = self["port"]?.integer.flatMap(UInt16.init(exactly:)) else {
      return nil
    }
    return (name, SocketAddress(host: host, port: port))
  }

  /// A member of an object; nil if there is none, or this is no object.
  subscript(name: String) -> JSONValue? { member(name) }

  /// The value of a whole number.
  var integer: Int64? {
    if case .integer(let number) = self { return number }
    return nil
  }

  /// The text of a string value.
  var string: String? {
    if case .string(let text) = self { return text }
    return nil
  }
}
