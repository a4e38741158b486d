import Basics
import Platform
import Transport

/// `tail`: the event stream of a running emulator, one line an event.
enum TailCommand {
  private static let since = Flag("since", .text("ID"), "begin after the event with this id")
  private static let event = Flag(
    "event", ValueKind<EventFilter.Name>.word,
    "only events of this kind (default: all but boot and connections of the console)"
  ).repeatable
  private static let topic = Flag("topic", .topic, "only events about this topic").repeatable
  private static let udid = Flag("udid", .udid, "only events about this device").repeatable
  static let flags: [any FlagDescription] = [
    CommonFlags.json, event, topic, udid, since, CommonFlags.access, CommonFlags.portsFile,
  ]

  static func run(_ settings: Settings) throws -> ExitStatus {
    let emulator = try RunningEmulator(settings)
    let address = try emulator.address("console")
    let target = "/api/v1/events" + (settings[since].map { "?since=\($0)" } ?? "")
    var reader = EventStreamReader()
    let isJSON = settings.isOn(CommonFlags.json)
    let filter = filter(settings, isJSON: isJSON)
    let isColored = TerminalColor.isWanted()
    let answer = try RunningEmulator.reaching {
      try HTTP1Client(address, timeout: Int64.max).stream(target, fields: emulator.credentials) { piece in
        for event in reader.take(piece) where filter.passes(event) {
          let line = isJSON ? event.data : EventLine.text(event, isColored: isColored)
          guard try Output.line(line) else { return false }
        }
        return true
      }
    }
    guard answer.status == 200 else {
      throw RunningEmulator.refused(answer)
    }
    return .success
  }

  /// A program that reads JSON gets everything unless it asks for less.
  private static func filter(_ settings: Settings, isJSON: Bool) -> EventFilter {
    let names = settings.all(event)
    return EventFilter(
      names: Set(names.isEmpty && isJSON ? EventFilter.Name.allCases : names),
      topics: Set(settings.all(topic).map(\.name)), udids: Set(settings.all(udid).map(\.text)))
  }
}

/// An event of the stream as one line for people.
package enum EventLine {
  /// What is told of an event, in this order, where it has it.
  private static let members = [
    "change", "severity", "id", "interface", "listener", "name", "udid", "topic", "environment", "token",
    "state",
    "missed", "remoteAddress", "detail", "reason", "effect", "node", "sentence",
  ]
  /// Of a token, in hexadecimal digits: enough to tell one from another.
  private static let tokenDigits = 16
  /// Widest name of an event, in characters.
  private static let nameWidth = 12

  package static func text(_ event: EventStreamReader.Event, isColored: Bool = false) -> String {
    // A payload may be nested deeply.
    guard let document = JSONReader.read(Array(event.data.utf8), maximumDepth: JSONText.maximumDepth) else {
      return printable(event.data)
    }
    let subject = document["notification"] ?? document["row"] ?? document
    let name = printable(event.name + String(repeating: " ", count: max(0, nameWidth - event.name.count)))
    let details =
      members.compactMap { member in
        document[member].flatMap { word(member, $0) } ?? subject[member].flatMap { word(member, $0) }
      }
      + content(subject)
    let head = [printable(time(document)), name]
    let rest = details.map(printable)
    guard isColored else { return (head + rest).joined(separator: "  ") }
    let painted = [TerminalColor.faint.paint(head[0]), color(event.name, subject)?.paint(name) ?? name]
    return (painted + rest).joined(separator: "  ")
  }

  /// What went wrong stands out, and so does what arrived.
  private static func color(_ name: String, _ subject: JSONValue) -> TerminalColor? {
    switch (name, subject["state"]?.string) {
    case ("fault", _), ("gap", _): .magenta
    case ("connection", _): .faint
    case (_, "rejected"), (_, "expired"), (_, "discarded"), (_, "gone"): .red
    case (_, "delivered"): .green
    case (_, "replaced"): .yellow
    case ("device", _), ("token", _), ("phone", _), ("presented", _), ("callback", _): .cyan
    case ("dropped", _), ("advice", _): .yellow
    default: nil
    }
  }

  /// The time of day; the date would be the same on every line.
  private static func time(_ document: JSONValue) -> String {
    let text = document["at"]?.string ?? ""
    return text.split(separator: "T").last.map { String($0.prefix { $0 != "Z" }) } ?? text
  }

  private static func word(_ member: String, _ value: JSONValue) -> String? {
    switch (member, value) {
    case (_, .null), (_, .string("")): nil
    case ("id", .integer(let number)): "#\(number)"
    case ("token", .string(let text)) where text.count > tokenDigits: "\(text.prefix(tokenDigits))…"
    case (_, .string(let text)): text
    default: value.text
    }
  }

  /// Why a notification was refused, and what it says.
  private static func content(_ subject: JSONValue) -> [String] {
    let verdict = subject["verdict"]
    // Without a reason a fault left it without an answer.
    let fault = verdict?["fault"]?["name"]?.string.map { "no answer, fault \($0)" }
    return [verdict?["reason"]?.string ?? fault, subject["payload"]?.text].compactMap { $0 }
  }

  /// A payload is a stranger's text: it must not drive the terminal.
  private static func printable(_ text: String) -> String {
    let scalars = text.unicodeScalars.map { scalar in
      [.control, .format, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
        ? "\u{fffd}" : scalar
    }
    return String(String.UnicodeScalarView(scalars))
  }
}

/// Colours of a terminal (ECMA-48 8.3.117, SGR).
enum TerminalColor: Int {
  case faint = 2
  case red = 31
  case green = 32
  case yellow = 33
  case magenta = 35
  case cyan = 36

  func paint(_ text: String) -> String { "\u{1b}[\(rawValue)m\(text)\u{1b}[0m" }

  /// Whether standard output is a terminal that wants them (https://no-color.org).
  static func isWanted(_ environment: [String: String] = ProcessEnvironment.variables) -> Bool {
    StandardDescriptors.isTerminal(StandardDescriptors.output) && environment["NO_COLOR", default: ""].isEmpty
      && environment["TERM"] != "dumb"
  }
}

/// Which events of the stream `tail` tells.
package struct EventFilter {
  /// What happens, as the stream names it. A gap, where events were missed, is always told.
  package enum Name: String, CaseIterable, Sendable {
    case notification, delivery, device, token, connection, fault, advice, boot
    /// On the phone of a device.
    case presented, callback, `extension`, dropped, phone
  }

  /// Empty for all but what is of no use to people: which run of the emulator it is that they watch, connections of the
  /// console, as each look at it is one, and that there is something else to be seen of a phone.
  var names: Set<Name>
  var topics: Set<String>
  var udids: Set<String>

  package init(names: Set<Name> = [], topics: Set<String> = [], udids: Set<String> = []) {
    (self.names, self.topics, self.udids) = (names, topics, udids)
  }

  package func passes(_ event: EventStreamReader.Event) -> Bool {
    guard let name = Name(rawValue: event.name) else { return true }
    guard names.isEmpty ? name != .boot : names.contains(name) else { return false }
    if topics.isEmpty, udids.isEmpty, name != .connection, name != .phone { return true }
    guard let document = JSONReader.read(Array(event.data.utf8), maximumDepth: JSONText.maximumDepth) else {
      return true
    }
    if name == .connection, names.isEmpty, document.string("listener") == "console" { return false }
    if name == .phone, names.isEmpty, document.string("change") == "document" { return false }
    let subject = document["notification"] ?? document["row"] ?? document
    return Self.isAmong(subject["topic"], topics) && Self.isAmong(subject["udid"], udids)
  }

  private static func isAmong(_ value: JSONValue?, _ wanted: Set<String>) -> Bool {
    wanted.isEmpty || value?.string.map(wanted.contains) ?? false
  }
}
