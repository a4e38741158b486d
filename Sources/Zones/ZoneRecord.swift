import Basics
import NATSWire

/// One record of a zone's log: who wrote it, in which reign and as its how manieth, and what it says.
///
///     version u8 = 1 | kind u8 | epoch u64 | number u64 | node: count u8, UTF-8 | stream: count u8, UTF-8 | body
///
/// Integers are big endian. Two records with the same bytes are the same record: a leader writes no number twice.
public struct ZoneRecord: Equatable, Sendable {
  public enum Body: Equatable, Sendable {
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
  public static let overhead = 2 + 8 + 8 + 256 + 256

  /// Most that an epoch or a number may be that is read: both are counted on from, and no log has come that far.
  static let countLimit: UInt64 = 1 << 62

  public var epoch: UInt64
  /// Counted from 0, the epoch record's.
  public var number: UInt64
  public var node: String
  /// When the stream was made, in the NATS server's words: a record of a stream that is no more does not fit into a new one.
  public var stream: String
  public var body: Body

  public init(epoch: UInt64, number: UInt64, node: String, stream: String, body: Body) {
    (self.epoch, self.number, self.node, self.stream, self.body) = (epoch, number, node, stream, body)
  }

  public var encoded: [UInt8] {
    let (kind, contents): (UInt8, [UInt8]) =
      switch body {
      case .epoch: (1, [])
      case .heartbeat: (2, [])
      case .changes(let changes): (3, changes)
      case .piece(let piece): (4, piece)
      case .handover(let node): (5, Array(node.utf8))
      }
    var bytes = [Self.version, kind]
    for value in [epoch, number] { bytes.append(bigEndian: value) }
    for text in [node, stream] {
      let text = Array(text.utf8.prefix(255))
      bytes.append(UInt8(text.count))
      bytes += text
    }
    return bytes + contents
  }

  /// Reads it; nil for what this version has not written.
  public init?(_ bytes: [UInt8]) {
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
  public static func problem(of bytes: [UInt8]) -> String {
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

/// Follows a zone's log: says what each record changes, and finds what can't be a log of ours.
///
/// Epochs rise by one, numbers within an epoch by one, and nothing of an older epoch comes behind a newer. Whoever has read up to
/// `last` without complaint knows the zone as its leader did when it wrote that.
public struct ZoneReader: Sendable {
  /// Where it has come to; a snapshot made here says so.
  public private(set) var place: ZonePlace
  /// The sequence of the last record that was read; 0 before the first.
  public var last: UInt64 { place.sequence }
  public var epoch: UInt64 { place.epoch }
  /// Of the epoch's leader; nil in a new log.
  public var leader: String? { place.leader }
  /// Whom the leader has left the zone to; nil while it reigns.
  public var successor: String? { place.successor }
  /// Pieces of changes whose last one has not come.
  private var pieces: [UInt8] = []
  private let stream: String
  /// Records that count for nothing, as an operator has said.
  private let aside: Set<UInt64>
  /// One of them was the last: what was between it and the next is given up.
  private var mayHaveGap = false

  /// Begins behind a snapshot, or with a new log.
  public init(stream: String, behind place: ZonePlace = ZonePlace(), aside: Set<UInt64> = []) {
    (self.stream, self.aside, self.place) = (stream, aside, place)
  }

  /// Takes the next record; answers what it changes, nil if that is nothing.
  public mutating func take(_ record: JetStreamRecord) throws(ZoneLogDamage) -> [UInt8]? {
    guard record.sequence > last else {
      throw ZoneLogDamage(record.sequence, "expected a sequence above \(last)")
    }
    guard !aside.contains(record.sequence) else {
      (place.sequence, mayHaveGap, pieces) = (record.sequence, true, [])
      return nil
    }
    guard let read = ZoneRecord(record.payload) else {
      throw ZoneLogDamage(
        record.sequence, ZoneRecord.problem(of: record.payload),
        isForeign: ZoneRecord.isForeign(record.payload))
    }
    guard read.stream == stream else {
      throw ZoneLogDamage(
        record.sequence, "it was written for a stream made at \(read.stream), not \(stream)")
    }
    guard isNext(read) else {
      throw ZoneLogDamage(
        record.sequence,
        "expected number \(place.number + 1) of epoch \(epoch) by \(leader ?? "no node"), or the next epoch; got number \(read.number)"
          + " of epoch \(read.epoch) by \(read.node)")
    }
    if read.epoch > epoch { (pieces, place.successor) = ([], nil) }
    (place.sequence, place.epoch, place.number) = (record.sequence, read.epoch, read.number)
    place.leader = read.node
    mayHaveGap = false
    return changes(read.body)
  }

  /// Behind a record that was set aside the next may be of any later place: that one may have begun an epoch.
  private func isNext(_ read: ZoneRecord) -> Bool {
    if mayHaveGap, read.epoch > epoch { return (read.body == .epoch) == (read.number == 0) }
    guard read.body != .epoch else { return read.epoch == epoch + 1 && read.number == 0 }
    return read.epoch == epoch
      && (read.number == place.number + 1 || mayHaveGap && read.number > place.number)
      && read.node == leader && successor == nil
  }

  /// The next record is one that nobody of the cluster has written: as if it was not there.
  public mutating func passOver(_ sequence: UInt64) { place.sequence = max(last, sequence) }

  private mutating func changes(_ body: ZoneRecord.Body) -> [UInt8]? {
    switch body {
    case .handover(let node):
      place.successor = node
      return nil
    case .epoch, .heartbeat: return nil
    case .piece(let piece):
      pieces += piece
      return nil
    case .changes(let changes):
      defer { pieces = [] }
      return pieces + changes
    }
  }
}

/// A place in a log.
public struct ZonePlace: Equatable, Sendable {
  public var sequence: UInt64
  public var epoch: UInt64
  public var number: UInt64
  public var leader: String?
  public var successor: String?

  public init(
    sequence: UInt64 = 0, epoch: UInt64 = 0, number: UInt64 = 0, leader: String? = nil,
    successor: String? = nil
  ) {
    (self.sequence, self.epoch, self.number) = (sequence, epoch, number)
    (self.leader, self.successor) = (leader, successor)
  }
}

/// A log that no leader can have written.
public struct ZoneLogDamage: Error, Equatable, Sendable, CustomStringConvertible {
  public let sequence: UInt64
  public let problem: String
  /// No node of any version has written it, so nothing is lost without it.
  public let isForeign: Bool

  public init(_ sequence: UInt64, _ problem: String, isForeign: Bool = false) {
    (self.sequence, self.problem, self.isForeign) = (sequence, problem, isForeign)
  }

  public var description: String { "record \(sequence) of the zone's log: \(problem)" }
}
