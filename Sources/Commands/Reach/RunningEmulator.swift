import Basics
import Platform
import PushModel
import Transport

/// Where a running emulator is: `--ports-file`, else `APNS_EMULATOR_PORTS_FILE`, else the default ports.
package struct RunningEmulator {
  private static let defaults: [String: UInt16] = [
    "gateway": 2195, "feedback": 2196, "provider": 2197, "courier": 5223, "console": 8790,
  ]

  private var addresses: [String: SocketAddress]
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
  init(_ settings: Settings) throws {
    let named =
      settings[CommonFlags.portsFile] ?? ProcessEnvironment.variables[CommonFlags.portsFile.environmentName]
    let ports = try named.flatMap { $0.isEmpty ? nil : try Self.portsFile($0) }
    isGuess = ports == nil
    ownEnvironment = ports?.string("environment").flatMap(Environment.init(name:))
    let token = settings[CommonFlags.access] ?? ports?.string("access")
    credentials = token.map { [HTTPField("Authorization", "Bearer \($0)")] } ?? []
    certs = settings[CommonFlags.certsOfEmulator] ?? ports?.string("certs") ?? "certs"
    caPath = ports?.string("ca") ?? certs + "/ca.pem"
    addresses = ports?.addresses ?? Self.defaults.mapValues { SocketAddress(host: "127.0.0.1", port: $0) }
  }

  private static func portsFile(_ path: String) throws -> JSONValue {
    guard PathCalls.exists(path) else { throw notRunning("there is no ports file \(path)") }
    guard let ports = JSONReader.read(try TextFile.read(path)), case .object = ports else {
      throw CommandFailure("\(path) is not a ports file: expected a JSON object")
    }
    return ports
  }

  /// Path of the CA certificate; a failure that says what to do if there is none.
  var ca: String {
    get throws {
      guard PathCalls.isReadable(caPath) else {
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
      throw CommandFailure("the running emulator has no \(listener) listener: --\(listener)-port is off")
    }
    return address
  }

  /// The same by its own word, asked of the console: where its listeners and its certs folder are, if that can be read from
  /// here and no other was named. Answers its environment too.
  func asItSays() throws -> (emulator: RunningEmulator, environment: String) {
    let info = try document("/api/v1/info")
    let environment = try Self.environment(in: info)
    var emulator = self
    if isGuess { emulator.addresses.merge(info["listeners"]?.addresses ?? [:]) { $1 } }
    if !PathCalls.isReadable(caPath), let path = info["certs"]?.string, PathCalls.isReadable("\(path)/ca.pem")
    {
      (emulator.certs, emulator.caPath) = (path, "\(path)/ca.pem")
    }
    return (emulator, environment)
  }

  /// What the console says of its emulator; a failure where something else answers.
  package static func environment(in info: JSONValue) throws -> String {
    guard let environment = info.string("environment"), case .object = info["listeners"] else {
      throw CommandFailure(
        "the console's address is not an emulator's: expected a document with environment and listeners, "
          + "got \(info.text)")
    }
    return environment
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

  /// The document that the console answers with, which has `member`; throws the console's own sentence if it refuses. A JSON document
  /// may be posted, or nothing. `path` says what it is about.
  func document(
    _ target: String, posting body: [UInt8]? = nil, timeout: Int64 = usualTime, with member: String? = nil,
    about path: String? = nil
  ) throws -> JSONValue {
    let fields = [HTTPField("Content-Type", "application/json")]
    let answer = try ask(
      body == nil ? "GET" : "POST", target, fields: body?.isEmpty == false ? fields : [], body: body ?? [],
      timeout: timeout)
    guard (200..<300).contains(answer.status),
      let document = JSONReader.read(answer.body, maximumDepth: JSONObject.bodyDepth),
      member == nil || member.flatMap({ document[$0] }) != nil
    else { throw Self.refused(answer, about: path) }
    return document
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
    guard let why else { return CommandFailure("\(address): no answer before the timeout") }
    return why.contains("can't connect")
      ? notRunning("\(address): \(why)")
      : CommandFailure("\(address): \(TLSRefusal(why)?.description ?? why)")
  }

  /// The console's own sentence, where its answer has one.
  static func refused(_ answer: HTTPResponse, about path: String? = nil) -> CommandFailure {
    let sentence =
      answer.status == 401
      ? "it needs the access token that serve printed; give it with --access TOKEN, or in "
        + CommonFlags.access.environmentName
      : JSONReader.read(answer.body)?["error"]?["message"]?.string
    return CommandFailure(
      (path.map { "\($0): " } ?? "")
        + "the console answered \(answer.status): \(sentence ?? String(decoding: answer.body, as: UTF8.self))"
    )
  }
}

extension JSONValue {
  /// Listeners by their names.
  fileprivate var addresses: [String: SocketAddress] {
    guard case .object(let members) = self else { return [:] }
    let pairs = members.compactMap { name, value -> (String, SocketAddress)? in
      guard let host = value.string("host"), let port = value["port"]?.integer.flatMap(UInt16.init(exactly:))
      else { return nil }
      return (name, SocketAddress(host: host, port: port))
    }
    return Dictionary(pairs) { $1 }
  }

  /// A member of an object; nil if there is none, or this is no object.
  subscript(name: String) -> JSONValue? { member(name) }

  /// Whether a member is true.
  func says(_ name: String) -> Bool {
    if case .bool(true)? = self[name] { return true }
    return false
  }

  /// The values of a member that is a list.
  func list(_ name: String) -> [JSONValue] {
    if case .array(let values)? = self[name] { return values }
    return []
  }
}
