import Basics
import Broker
import Phones
import PushModel

/// What notifications a request is about: every condition must hold (`Documentation/console-api.md`).
struct NotificationFilter {
  /// One condition.
  struct Condition: Hashable {
    /// As in the query, in the order of the contract.
    enum Name: String, CaseIterable {
      case topic, token, udid, interface, status, reason, state
      /// What a phone has told of it.
      case phone
      /// Anywhere in the payload; ASCII letters are compared without case.
      case payload = "q"
    }

    enum Wanted: Hashable {
      case text(String)
      /// What hexadecimal digits spell.
      case bytes([UInt8])
      case status(Int)
      case part(ByteSearch)
    }

    let name: Name
    let wanted: Wanted
  }

  var conditions: [Condition] = []

  var isEmpty: Bool { conditions.isEmpty }

  init(_ conditions: [Condition]) { self.conditions = conditions }

  /// Takes the filters out of a query.
  init(_ query: inout QueryReader) throws {
    for name in Condition.Name.allCases {
      if let value = query.text(name.rawValue) { conditions.append(try Self.condition(name, value)) }
    }
  }

  /// Reads the `match` of a body; the status may be a number.
  init(_ match: JSONObject) throws {
    try match.check(allowing: Condition.Name.allCases.map(\.rawValue))
    for name in Condition.Name.allCases {
      guard let value = match[name.rawValue] else { continue }
      switch value {
      case .string(let text): conditions.append(try Self.condition(name, text))
      case .integer(let number) where name == .status:
        conditions.append(try Self.condition(name, String(number)))
      case .number(let number) where name == .status && Int64(exactly: number) != nil:
        conditions.append(try Self.condition(name, String(Int64(number))))
      default:
        throw DocumentError(
          match.path(name.rawValue), expected: name == .status ? "a number" : "a string", got: value)
      }
    }
  }

  private static func condition(_ name: Condition.Name, _ value: String) throws -> Condition {
    Condition(name: name, wanted: try wanted(name, value))
  }

  private static func wanted(_ name: Condition.Name, _ value: String) throws -> Condition.Wanted {
    switch name {
    case .topic, .udid: break
    case .token:
      guard let bytes = Hex.decode(value), !bytes.isEmpty else {
        throw ConsoleError.bad(name.rawValue, expected: "hexadecimal digits", got: value)
      }
      return .bytes(bytes)
    case .interface: try check(name, value, Interface.allCases.map(\.name))
    case .status:
      guard let status = Int(value), (100...599).contains(status) else {
        throw ConsoleError.bad(name.rawValue, expected: "an HTTP status from 100 to 599", got: value)
      }
      return .status(status)
    case .reason: try check(name, value, JSONValue.reasons)
    case .state: try check(name, value, NotificationState.allCases.map(\.name))
    case .phone:
      guard PhoneHappening.isName(value) else {
        throw ConsoleError.bad(name.rawValue, expected: "an event of a phone, as presented", got: value)
      }
    case .payload: return .part(ByteSearch(value))
    }
    return .text(value)
  }

  private static func check(_ name: Condition.Name, _ text: String, _ words: [String]) throws {
    guard words.contains(text) else { throw DocumentError(name.rawValue, expected: words, got: text) }
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
    name == .payload ? Slice.look + record.payload.count / Slice.bytesSearched : Slice.look
  }

  /// Whether a notification that does not match may match later, as it goes on its way.
  var mayChange: Bool { name == .state }

  func holds(_ record: JournalRecord, _ broker: Broker) -> Bool {
    switch wanted {
    case .text(let event) where name == .phone:
      broker.journal.phoneSteps(record.id).contains { $0.event == event }
    case .text(let wanted): text(record, broker) == wanted
    case .bytes(let bytes): record.presentedToken.elementsEqual(bytes)
    case .status(let status): record.verdict(broker).status == status
    case .part(let search): search.isIn(record.payload)
    }
  }

  /// What was asked for.
  var expected: JSONValue {
    switch wanted {
    case .text(let text): .string(text)
    case .bytes(let bytes): .string(Hex.encode(bytes))
    case .status(let status): .integer(Int64(status))
    case .part(let search): .string(search.text)
    }
  }

  /// What a record has in its place.
  func actual(_ record: JournalRecord, _ broker: Broker) -> JSONValue {
    switch name {
    case .token: .string(Hex.encode(record.presentedToken))
    case .status: .optional(record.verdict(broker).status)
    case .phone: .array(broker.journal.phoneSteps(record.id).map { .string($0.event) })
    case .payload: .string("not in the payload")
    case .topic, .udid, .interface, .reason, .state: .optional(text(record, broker))
    }
  }

  /// What a record has of those that are one text.
  private func text(_ record: JournalRecord, _ broker: Broker) -> String? {
    switch name {
    case .topic: record.topicLabel(broker)
    case .udid: record.udid(broker)?.text
    case .interface: record.interface.name
    case .reason: record.verdict(broker).reason
    case .state: record.state.name
    case .token, .status, .phone, .payload: nil
    }
  }
}
