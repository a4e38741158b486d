import Basics
import Broker
import PushModel

/// What the history says of the pushes of a run, read while it goes on: it keeps only the newest, and a retry storm may be long.
struct DrillTally {
  /// A push that is tried again this soon after a rejection is a hasty one, in nanoseconds
  /// (`Documentation/drills.md#what-is-right`).
  static let hasty: Int64 = 1_000_000_000

  private(set) var tokens: [TokenFacts]
  private(set) var interfaces: Set<DrillInterface> = []
  /// Numbers of connections in this run.
  private(set) var connections: Set<UInt32> = []
  /// Pushes by the console's plain HTTP, and to tokens that are not in the file, as counts.
  private(set) var elsewhere = (console: 0, strangers: 0)
  /// The reason of the first push that was rejected.
  private(set) var firstRejection: Rejection?
  private let places: [[UInt8]: Int]
  private var rejectedAt: [Timestamp?]
  private var next: UInt64

  /// Of what comes from a notification on.
  init(_ file: DrillTokenFile, since next: UInt64) {
    tokens = file.kinds.map(TokenFacts.init)
    rejectedAt = file.kinds.map { _ in nil }
    places = Dictionary(file.tokens.enumerated().map { ($1, $0) }) { first, _ in first }
    self.next = next
  }

  /// Whether all that has come has its end.
  func hasAll(of journal: Journal) -> Bool { next >= journal.nextId }

  /// Reads on, up to what has no end yet.
  mutating func read(_ journal: Journal) {
    next = max(next, journal.firstId)
    while let record = journal[next], record.hasEnded {
      take(record, isAnswered: journal.detail(next)?.fault?.isAnswered != false)
      next += 1
    }
  }

  private mutating func take(_ record: JournalRecord, isAnswered: Bool) {
    switch record.interface {
    case .gateway: interfaces.insert(.binary)
    case .provider: interfaces.insert(.http2)
    default: elsewhere.console += 1
    }
    if record.connection != 0 { connections.insert(record.connection) }
    if let rejection = record.rejection, isAnswered { firstRejection = firstRejection ?? rejection }
    guard let place = places[Array(record.presentedToken)] else { return elsewhere.strangers += 1 }
    tokens[place].tries += 1
    if let before = rejectedAt[place], record.receivedAt.nanoseconds - before.nanoseconds < Self.hasty {
      tokens[place].quickRetries += 1
    }
    if record.state == .delivered { tokens[place].deliveries += 1 }
    rejectedAt[place] = nil
    guard record.rejection != nil, isAnswered else { return }
    tokens[place].rejections += 1
    rejectedAt[place] = record.endedAt == .never ? record.receivedAt : record.endedAt
  }
}

extension JournalRecord {
  /// Nothing more becomes of it while its phone is online.
  fileprivate var hasEnded: Bool {
    switch state {
    case .stored, .sent: false
    case .rejected, .delivered, .replaced, .expired, .discarded: true
    }
  }
}

/// The tokens of CMD's file, in its order.
package struct DrillTokenFile: Sendable {
  package let kinds: [DrillTokens.Kind]
  package let tokens: [[UInt8]]

  package init(kinds: [DrillTokens.Kind], tokens: [[UInt8]]) { (self.kinds, self.tokens) = (kinds, tokens) }

  /// Places of the tokens that a text has in it: 64 hexadecimal digits, whatever stands around them.
  package func places(in text: [UInt8]) -> Set<Int> {
    let names = Dictionary(tokens.enumerated().map { (Array(Hex.encode($1).utf8), $0) }) { first, _ in first }
    let length = DeviceToken.byteCount * 2
    var found: Set<Int> = []
    for run in text.split(whereSeparator: { !Self.isHex($0) }) where run.count >= length {
      let digits = run.map { $0 | ($0 >= UInt8(ascii: "A") ? 0x20 : 0) }
      for start in 0...(digits.count - length) {
        if let place = names[Array(digits[start..<start + length])] { found.insert(place) }
      }
    }
    return found
  }

  /// Places of the tokens that lines begin with, as in a report.
  package func places(ofLines text: [UInt8]) -> Set<Int> {
    let first = text.split(separator: UInt8(ascii: "\n")).flatMap { line in
      line.prefix { !Self.isBlank($0) } + [UInt8(ascii: "\n")]
    }
    return places(in: Array(first))
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0d }

  private static func isHex(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
      UInt8(ascii: "A")...UInt8(ascii: "F"):
      true
    default: false
    }
  }
}
