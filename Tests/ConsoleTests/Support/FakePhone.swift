import Basics
import Phones
import PushModel
import Testing

import Console

/// The connection of a device with a phone, as the board knows it. Carries out each order at once, unless it is told to wait.
final class FakePhone: PhoneLink {
  /// How it takes orders.
  enum Manner { case obeys, refuses(String), waits }

  let board: PhoneBoard
  let udid: UDID
  var manner = Manner.obeys
  var document = #"{"iosVersion":"18","settings":{},"screen":{"locked":true,"lockScreen":[]},"apps":{}}"#
  /// What it was ordered to do.
  private(set) var orders: [(number: UInt32, order: JSONValue)] = []

  init(_ board: PhoneBoard, _ udid: UDID) { (self.board, self.udid) = (board, udid) }

  func connect() {
    board.connected(udid, self)
    tell()
  }

  func disconnect() { board.disconnected(udid, self) }

  func order(_ order: [UInt8], number: UInt32) {
    orders.append((number, JSONReader.read(order) ?? .null))
    switch manner {
    case .obeys: answer(number, [Self.event("settings")])
    case .refuses(let sentence):
      _ = board.told(PhoneTelling(number: number, problem: sentence), by: udid, self)
    case .waits: break
    }
  }

  @discardableResult
  func answer(_ number: UInt32, _ events: [String] = []) -> Bool {
    board.told(
      PhoneTelling(number: number, events: Self.list(events), document: Array(document.utf8)), by: udid, self)
  }

  /// Tells of itself unasked.
  @discardableResult
  func tell(_ events: [String] = [], lost: UInt32 = 0, problem: String? = nil) -> Bool {
    board.told(
      PhoneTelling(
        problem: problem, events: Self.list(events), document: Array(document.utf8), lost: lost),
      by: udid, self)
  }

  private static func list(_ events: [String]) -> [UInt8] {
    events.isEmpty ? [] : Array("[\(events.joined(separator: ","))]".utf8)
  }

  static func event(_ name: String, of id: UInt64? = nil, detail: String = "") -> String {
    let members: [(String, JSONValue)] = [
      ("at", "2026-01-02T03:04:05.000Z"), ("event", .string(name)), ("topic", .string(ConsoleLab.app)),
      ("detail", .string(detail)), ("rule", "system-shows"), ("evidence", "A"), ("reason", "so it is"),
      ("notificationId", .optional(id)), ("phoneNote", nil),
    ]
    return JSONValue.object(members).text
  }
}
