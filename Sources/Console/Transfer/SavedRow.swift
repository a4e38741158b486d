import Broker
import PushModel

/// A row of the token map in a saved state: one install of one app on one device.
struct SavedRow: Equatable {
  enum State: String, CaseIterable {
    /// On the phone.
    case installed
    /// Taken off the phone, which has not reported it yet: pushes are still taken.
    case removed
    /// Reported: 410 and feedback.
    case gone
  }

  /// By name, or, where only a device has said it, by hash.
  enum App: Hashable {
    case named(Topic)
    case hashed(TopicHash)
  }

  var app: App
  var environment: Environment
  var install: Int32
  /// nil for the one that the emulator's secret gives.
  var token: DeviceToken?
  var state: State
  var issuedAt: Timestamp?
  var goneAt: Timestamp?
  var message: SavedMessage?
  /// Where it stands in a document, for what is said about it.
  var place = ""

  private static let names = [
    "topic", "topicHash", "environment", "install", "token", "state", "issuedAt", "goneAt", "message",
  ]

  init(_ row: Registration, app: App, message: SavedMessage?) {
    self.app = app
    (environment, install, token) = (row.environment, row.install, row.token)
    state = !row.isActive ? .gone : row.isAbandoned ? .removed : .installed
    issuedAt = row.issuedAt
    goneAt = row.isActive ? nil : row.goneAt
    self.message = message
  }

  /// Reads a row; what is left out follows from the emulator's environment and the device's `earlier` rows.
  init(_ object: JSONObject, after earlier: [SavedRow], environment standard: Environment) throws {
    try object.check(allowing: Self.names)
    place = object.place
    let app = try Self.app(object)
    let environment = try object.environment("environment") ?? standard
    (self.app, self.environment) = (app, environment)
    let installs = earlier.filter { $0.app == app && $0.environment == environment }.map(\.install)
    let limit = Int64(Registry.rowsPerDevice)
    install = Int32(try object.integer("install", 1...limit) ?? Int64(installs.max() ?? 0) + 1)
    guard !installs.contains(install) else {
      throw ConsoleError.bad(
        object.path("install"), expected: "a number that no earlier row of the app has", got: "\(install)")
    }
    token = try object.text("token", "64 hexadecimal digits") { DeviceToken(hex: $0) }
    let words = State.allCases.map(\.rawValue).joined(separator: ", ")
    state = try object.text("state", "one of \(words)") { State(rawValue: $0) } ?? .installed
    (issuedAt, goneAt) = (try object.time("issuedAt"), try object.time("goneAt"))
    message = try object.object("message").map(SavedMessage.init)
    try check(object)
  }

  private static func app(_ object: JSONObject) throws -> App {
    if let topic = try object.topic("topic") { return .named(topic) }
    let hash = try object.text("topicHash", "40 hexadecimal digits") {
      Hex.decode($0).flatMap { TopicHash(bytes: $0) }
    }
    return .hashed(try object.required("topic", Topic.expectation, hash))
  }

  private func check(_ object: JSONObject) throws {
    if goneAt != nil, state != .gone {
      throw ConsoleError.bad(
        object.path("goneAt"), expected: "none unless state is gone", got: state.rawValue)
    }
    if message != nil, state == .gone {
      throw ConsoleError.bad(object.path("message"), expected: "none for an app that is gone", got: "one")
    }
  }

  var json: JSONValue {
    var members: [(String, JSONValue)] = []
    switch app {
    case .named(let topic): members.append(("topic", .string(topic.name)))
    case .hashed(let hash): members.append(("topicHash", .string(hash.hex)))
    }
    members += [("environment", .string(environment.name)), ("install", .integer(Int64(install)))]
    if let token { members.append(("token", .string(token.hex))) }
    members.append(("state", .string(state.rawValue)))
    if let issuedAt { members.append(("issuedAt", .string(issuedAt.rfc3339))) }
    if let goneAt { members.append(("goneAt", .string(goneAt.rfc3339))) }
    if let message { members.append(("message", message.json)) }
    return .object(members)
  }
}
