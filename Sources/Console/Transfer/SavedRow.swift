import Broker
import PushModel

/// A row of the token map in a saved state: one install of one app on one device.
struct SavedRow: Equatable, JSONDocument {
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
  /// What of the topic it is for; nil for all of it.
  var context: TokenContext?
  var environment: Environment
  var install: Int32
  /// nil for the one that the emulator's secret gives.
  var token: ChosenToken?
  /// Somebody chose it. Those of other lengths than devices know always were.
  var isChosen = false
  var state: State
  var issuedAt: Timestamp?
  var goneAt: Timestamp?
  var message: SavedMessage?
  /// Where it stands in a document, for what is said about it.
  var place = ""

  /// The end of time is how the token map says that a token is not gone.
  private static let pastTimes = JSONKind<Timestamp>.time.narrowed("a time before 2262") { $0 < .never }

  private static let hashes = JSONKind<TopicHash>.spelled(
    "40 hexadecimal digits", ["type": "string", "pattern": "^[0-9A-Fa-f]{40}$"],
    { Hex.decode($0).flatMap { TopicHash(bytes: $0) } }, { $0.hex })

  /// App, context and environment are read before the others, as the number of the install follows from them.
  static let form = JSONForm<SavedRow>(
    [
      JSONField(
        "topic", .topic, get: { if case .named(let topic) = $0.app { topic } else { nil } },
        set: { _, _ in }),
      JSONField(
        "topicHash", hashes, get: { if case .hashed(let hash) = $0.app { hash } else { nil } },
        set: { _, _ in }),
      JSONField("context", .tokenContext, \.context), JSONField("environment", .environment, \.environment),
      JSONField("install", .whole(1...Int64(Registration.installs.upperBound)), \.install),
      JSONField("token", .chosenToken, \.token), JSONField(flag: "chosen", \.isChosen),
      JSONField("state", .word, \.state),
      JSONField("issuedAt", .time, \.issuedAt), JSONField("goneAt", pastTimes, \.goneAt),
      JSONField("message", SavedMessage.kind, \.message),
    ], rules: [("anyOf", [["required": ["topic"]], ["required": ["topicHash"]]])])

  init(
    _ row: Registration, _ token: ChosenToken?, app: App, context: TokenContext?, message: SavedMessage?
  ) {
    (self.app, self.context) = (app, context)
    (environment, install) = (row.environment, row.install)
    (self.token, isChosen) = (token, row.isChosen)
    state = !row.isActive ? .gone : row.isAbandoned ? .removed : .installed
    issuedAt = row.issuedAt
    goneAt = row.isActive ? nil : row.goneAt
    self.message = message
  }

  /// Reads a row; what is left out follows from the emulator's environment and the device's `earlier` rows.
  init(_ object: JSONObject, after earlier: NumberedInstalls, environment standard: Environment) throws {
    place = object.place
    app = try Self.app(object)
    context = try object.value("context", .tokenContext)
    environment = try object.value("environment", .environment) ?? standard
    state = .installed
    let (app, context, environment) = (app, context, environment)
    let installs = earlier.numbers(of: app, context, environment)
    install = Registration.nextInstall(after: installs)
    try Self.form.read(object, into: &self)
    guard !installs.contains(install) else {
      throw DocumentError(
        object.path("install"), expected: "a number that no earlier row of the app has",
        got: .integer(Int64(install)))
    }
    try check(object)
  }

  private static func app(_ object: JSONObject) throws -> App {
    if let topic = try object.value("topic", .topic) { return .named(topic) }
    if let hash = try object.value("topicHash", hashes) { return .hashed(hash) }
    return .named(try object.required("topic", .topic))
  }

  private func check(_ object: JSONObject) throws {
    if goneAt != nil, state != .gone {
      throw DocumentError(
        object.path("goneAt"), expected: "none unless state is gone", got: .string(state.rawValue))
    }
    if isChosen, token == nil {
      throw DocumentError("\(object.path("chosen")): expected a token beside it, got none")
    }
    if message != nil, state == .gone {
      throw DocumentError("\(object.path("message")): expected none for an app that is gone, got one")
    }
  }
}

/// Which installs of each app a device's rows are, as far as they are read. By app, since a device may have thousands of rows.
struct NumberedInstalls: Equatable {
  private struct App: Hashable {
    let app: SavedRow.App
    let context: TokenContext?
    let environment: Environment
  }

  private var numbers: [App: [Int32]] = [:]

  func numbers(of app: SavedRow.App, _ context: TokenContext?, _ environment: Environment) -> [Int32] {
    numbers[App(app: app, context: context, environment: environment)] ?? []
  }

  mutating func note(_ row: SavedRow) {
    numbers[App(app: row.app, context: row.context, environment: row.environment), default: []].append(
      row.install)
  }
}
