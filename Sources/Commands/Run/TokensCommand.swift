import Basics

/// `tokens`: the mapping table of a running emulator.
enum TokensCommand {
  /// A script that takes the tokens alone pushes to them, and can't tell those of before apart.
  private static let bare = Flag(
    "bare", .toggle, "print the tokens alone, one a line; those of installed apps unless --state is given")
  private static let udid = Flag("udid", .udid, "only tokens of this device")
  private static let topic = Flag("topic", .topic, "only tokens of this topic")
  private static let app = Flag(
    "app", .topic, "only tokens of this bundle id, and of its topics with a suffix such as .voip")
  private static let state = Flag("state", ValueKind<TokenState>.word, "only tokens in this state")
  static let flags: [any FlagDescription] = [
    CommonFlags.json, bare, udid, topic, app, state, CommonFlags.access, CommonFlags.portsFile,
  ]
  private static let columns = ["udid", "topic", "environment", "token", "state"]

  /// What became of a token, as the console says it.
  private enum TokenState: String, CaseIterable, Sendable { case active, gone }

  static func run(_ settings: Settings) throws -> ExitStatus {
    let emulator = try RunningEmulator(settings)
    var rows: [JSONValue] = []
    var next: Int64? = 0
    while let since = next {
      let page = try emulator.document(target(settings, since: since), with: "tokens")
      rows += page.list("tokens")
      next = page["next"]?.integer
    }
    for line in lines(rows, settings) { try Output.line(line) }
    return .success
  }

  /// The list comes in pages; `since` is where one begins.
  private static func target(_ settings: Settings, since: Int64) -> String {
    let filters = [
      ("since", since > 0 ? "\(since)" : nil), ("udid", settings[udid]?.text),
      ("topic", settings[topic]?.name), ("app", settings[app]?.name),
      ("state", settings[state]?.rawValue),
    ]
    let query = filters.compactMap { name, value in value.map { "\(name)=\($0)" } }.joined(separator: "&")
    return "/api/v1/tokens" + (query.isEmpty ? "" : "?" + query)
  }

  private static func lines(_ rows: [JSONValue], _ settings: Settings) -> [String] {
    if settings.isOn(CommonFlags.json) { return rows.map(\.text) }
    if settings.isOn(bare) {
      let isAny = settings[state] != nil
      return rows.filter { isAny || $0.says("installed") }.compactMap { $0["token"]?.string }
    }
    // Few have one, and scripts count columns.
    let columns = columns + (rows.contains { $0["context"]?.string != nil } ? ["context"] : [])
    return TextTable.lines(
      [columns.map { $0.uppercased() }] + rows.map { row in columns.map { row[$0]?.string ?? "" } })
  }
}
