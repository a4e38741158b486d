import Basics

/// One record of a zone's log: who wrote it, in which reign and as its how manieth, and what it says.
///
///     version u8 = 1 | kind u8 | epoch u64 | number u64 | node: count u8, UTF-8 | stream: count u8, UTF-8 | body
///
/// Integers are big endian. Two records with the same bytes are the same record: a leader writes no number twice.
package struct ZoneRecord: Equatable, Sendable {
  package enum Body: Equatable, Sendable {
    /// A reign begins. Voids a group of the reign before that is not whole.
    case epoch
    /// Nothing happens, and the leader lives.
    case heartbeat
    /// What one turn or several have changed.
    case changes([UInt8])
    /// A piece of changes that are too large for one record; more follow.
    case piece([UInt8])
    /// The reign ends: the node of this name may begin the next at once.
    case handover(to: String)
  }

  private static let version: UInt8 = 1
  /// Most bytes of a record beside its changes.
  package static let overhead = 2 + 8 + 8 + 256 + 256

  /// Most that an epoch or a number may be that is read: both are counted on from, and no log has come that far.
  static let countLimit: UInt64 = 1 << 62

  package var epoch: UInt64
  /// Counted from 0, the epoch record's.
  package var number: UInt64
  package var node: String
  /// When the stream was made, in the NATS server's words: a record of a stream that is no more does not fit into a new one.
  package var stream: String
  package var body: Body

  package init(epoch: UInt64, number: UInt64, node: String, stream: String, body: Body) {
    (self.epoch, self.number, self.node, self.stream, self.body) = (epoch, number, node, stream, body)
  }

  package var encoded: [UInt8] {
    var bytes = [Self.version, kind]
    for value in [epoch, number] { withUnsafeBytes(of: value.bigEndian) { bytes += $0 } }
    for text in [node, stream] {
      let text = Array(text.utf8.prefix(255))
      bytes.append(UInt8(text.count))
      bytes += text
    }
    switch body {
    case .epoch, .heartbeat: return bytes
    case .changes(let changes), .piece(let changes): return bytes + changes
    case .handover(let node): return bytes + Array(node.utf8)
    }
  }

  private var kind: UInt8 {
    switch body {
    case .epoch: 1
    case .heartbeat: 2
    case .changes: 3
    case .piece: 4
    case .handover: 5
    }
  }

  /// Reads it; nil for what this version has not written.
  package init?(_ bytes: [UInt8]) {
    guard bytes.count >= 18, bytes[0] == Self.version else { return nil }
    var rest = bytes[18...]
    epoch = Self.integer(bytes[2..<10])
    number = Self.integer(bytes[10..<18])
    guard epoch <= Self.countLimit, number <= Self.countLimit, let node = Self.text(&rest),
      let stream = Self.text(&rest)
    else { return nil }
    (self.node, self.stream) = (node, stream)
    switch bytes[1] {
    case 1 where rest.isEmpty: body = .epoch
    case 2 where rest.isEmpty: body = .heartbeat
    case 3: body = .changes(Array(rest))
    case 4: body = .piece(Array(rest))
    case 5:
      guard let successor = String(validating: rest, as: UTF8.self) else { return nil }
      body = .handover(to: successor)
    default: return nil
    }
  }

  /// Whether bytes are nothing that a node of any version has written.
  static func isForeign(_ bytes: [UInt8]) -> Bool {
    bytes.first.map { !(version...maximalVersion).contains($0) } ?? true
  }

  /// Why bytes can't be read. A version of a record is a byte of its own for good, and the first of it.
  package static func problem(of bytes: [UInt8]) -> String {
    guard let first = bytes.first, (version + 1...maximalVersion).contains(first) else {
      return "it is no record of a zone"
    }
    return
      "it may be of a newer version of apns-emulator: expected a record of version \(version), got \(first)"
  }

  /// No version of a record will be higher than this: what begins with a higher byte is none.
  private static let maximalVersion: UInt8 = 31

  private static func integer(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }

  private static func text(_ rest: inout ArraySlice<UInt8>) -> String? {
    guard let count = rest.popFirst(), rest.count >= Int(count) else { return nil }
    defer { rest = rest.dropFirst(Int(count)) }
    return String(validating: rest.prefix(Int(count)), as: UTF8.self)
  }
}
