import Broker
import PushModel

/// What notifications a request is about: every condition must hold (`Documentation/console-api.md`).
struct NotificationFilter {
  /// One condition, named as in the query.
  enum Condition: Hashable {
    case topic(String)
    /// The bytes that the hexadecimal digits spell.
    case token([UInt8])
    case udid(String)
    case interface(Interface)
    case status(Int)
    case reason(String)
    case state(NotificationState)
    /// A phone has told this of it.
    case phone(String)
    /// Anywhere in the payload; ASCII letters are compared without case.
    case text(ByteSearch)
  }

  /// Names of the filters, in the order of the contract.
  static let names = ["topic", "token", "udid", "interface", "status", "reason", "state", "phone", "q"]

  var conditions: [Condition] = []

  var isEmpty: Bool { conditions.isEmpty }

  init(_ conditions: [Condition]) { self.conditions = conditions }

  /// Takes the filters out of a query.
  init(_ query: inout QueryReader) throws {
    for name in Self.names {
      if let value = query.text(name) { conditions.append(try Self.condition(name, value)) }
    }
  }

  /// Reads the `match` of a body; the status may be a number.
  init(_ match: JSONObject) throws {
    try match.check(allowing: Self.names)
    for name in Self.names {
      guard let value = match[name] else { continue }
      switch value {
      case .string(let text): conditions.append(try Self.condition(name, text))
      case .integer(let number) where name == "status":
        conditions.append(try Self.condition(name, String(number)))
      case .number(let number) where name == "status" && Int64(exactly: number) != nil:
        conditions.append(try Self.condition(name, String(Int64(number))))
      default:
        throw DocumentError(
          match.path(name), expected: name == "status" ? "a number" : "a string", got: value)
      }
    }
  }

  private static func condition(_ name: String, _ value: String) throws -> Condition {
    switch name {
    case "topic": return .topic(value)
    case "token":
      guard let bytes = Hex.decode(value), !bytes.isEmpty else {
        throw ConsoleError.bad(name, expected: "hexadecimal digits", got: value)
      }
      return .token(bytes)
    case "udid": return .udid(value)
    case "interface": return .interface(try word(name, value, Interface.allCases, \.name))
    case "status":
      guard let status = Int(value), (100...599).contains(status) else {
        throw ConsoleError.bad(name, expected: "an HTTP status from 100 to 599", got: value)
      }
      return .status(status)
    case "reason": return .reason(try word(name, value, Rejection.allCases, \.reason).reason)
    case "state": return .state(try word(name, value, NotificationState.allCases, \.name))
    case "phone":
      guard PhoneEntry.isName(value) else {
        throw ConsoleError.bad(name, expected: "an event of a phone, as presented", got: value)
      }
      return .phone(value)
    default: return .text(ByteSearch(value))
    }
  }

  private static func word<Value>(
    _ name: String, _ text: String, _ all: [Value], _ spelling: KeyPath<Value, String>
  ) throws -> Value {
    guard let value = all.first(where: { $0[keyPath: spelling] == text }) else {
      var words: [String] = []
      for word in all.map({ $0[keyPath: spelling] }) where !words.contains(word) { words.append(word) }
      throw DocumentError(name, expected: words, got: text)
    }
    return value
  }

  /// Whether every condition holds.
  func matches(_ record: JournalRecord, _ broker: Broker, _ slice: inout Slice) -> Bool {
    for condition in conditions {
      slice.spend(condition.cost(record))
      guard condition.holds(record, broker) else { return false }
    }
    return true
  }
}

extension NotificationFilter.Condition {
  /// What looking at a record costs, in units of `Slice`.
  func cost(_ record: JournalRecord) -> Int {
    guard case .text = self else { return Slice.look }
    return Slice.look + record.payload.count / Slice.bytesSearched
  }

  func holds(_ record: JournalRecord, _ broker: Broker) -> Bool {
    switch self {
    case .topic(let name): record.topicLabel(broker) == name
    case .token(let bytes): record.presentedToken.elementsEqual(bytes)
    case .udid(let text): record.udid(broker)?.text == text
    case .interface(let interface): record.interface == interface
    case .status(let status): record.status(broker) == status
    case .reason(let reason): record.reason(broker) == reason
    case .state(let state): record.state == state
    case .phone(let event): broker.journal.phoneSteps(record.id).contains { $0.event == event }
    case .text(let search): search.isIn(record.payload)
    }
  }

  /// The filter's name.
  var name: String {
    switch self {
    case .topic: "topic"
    case .token: "token"
    case .udid: "udid"
    case .interface: "interface"
    case .status: "status"
    case .reason: "reason"
    case .state: "state"
    case .phone: "phone"
    case .text: "q"
    }
  }

  /// What was asked for.
  var expected: JSONValue {
    switch self {
    case .topic(let text), .udid(let text), .reason(let text), .phone(let text): .string(text)
    case .token(let bytes): .string(Hex.encode(bytes))
    case .interface(let interface): .string(interface.name)
    case .status(let status): .integer(Int64(status))
    case .state(let state): .string(state.name)
    case .text(let search): .string(search.text)
    }
  }

  /// What a record has in its place.
  func actual(_ record: JournalRecord, _ broker: Broker) -> JSONValue {
    switch self {
    case .topic: .optional(record.topicLabel(broker))
    case .token: .string(Hex.encode(record.presentedToken))
    case .udid: .optional(record.udid(broker)?.text)
    case .interface: .string(record.interface.name)
    case .status: record.status(broker).map { .integer(Int64($0)) } ?? .null
    case .reason: .optional(record.reason(broker))
    case .state: .string(record.state.name)
    case .phone: .array(broker.journal.phoneSteps(record.id).map { .string($0.event) })
    case .text: .string("not in the payload")
    }
  }
}
