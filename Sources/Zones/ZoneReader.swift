import Basics
import NATSWire

/// Follows a zone's log: says what each record changes, and finds what can't be a log of ours.
///
/// Epochs rise by one, numbers within an epoch by one, and nothing of an older epoch comes behind a newer. Whoever has read up to
/// `last` without complaint knows the zone as its leader did when it wrote that.
package struct ZoneReader: Sendable {
  /// The sequence of the last record that was read; 0 before the first.
  package private(set) var last: UInt64
  package private(set) var epoch: UInt64
  /// Of the epoch's leader; nil in a new log.
  package private(set) var leader: String?
  /// Whom the leader has left the zone to; nil while it reigns.
  package private(set) var successor: String?
  private var number: UInt64
  /// Pieces of changes whose last one has not come.
  private var pieces: [UInt8] = []
  private let stream: String
  /// Records that count for nothing, as an operator has said.
  private let aside: Set<UInt64>
  /// One of them was the last: what was between it and the next is given up.
  private var mayHaveGap = false

  /// Begins behind a snapshot, or with a new log.
  package init(stream: String, behind place: ZonePlace = ZonePlace(), aside: Set<UInt64> = []) {
    (self.stream, self.aside, last, epoch) = (stream, aside, place.sequence, place.epoch)
    (number, leader, successor) = (place.number, place.leader, place.successor)
  }

  /// Where it has come to; a snapshot made here says so.
  package var place: ZonePlace {
    ZonePlace(sequence: last, epoch: epoch, number: number, leader: leader, successor: successor)
  }

  /// Takes the next record; answers what it changes, nil if that is nothing.
  package mutating func take(_ record: JetStreamRecord) throws(ZoneLogDamage) -> [UInt8]? {
    guard record.sequence > last else { throw ZoneLogDamage(record.sequence, "it comes behind \(last)") }
    guard !aside.contains(record.sequence) else {
      (last, mayHaveGap, pieces) = (record.sequence, true, [])
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
        "expected number \(number + 1) of epoch \(epoch) by \(leader ?? "nobody"), or the next epoch; got number \(read.number)"
          + " of epoch \(read.epoch) by \(read.node)")
    }
    if read.epoch > epoch { (pieces, successor) = ([], nil) }
    (last, epoch, number, leader) = (record.sequence, read.epoch, read.number, read.node)
    mayHaveGap = false
    return changes(read.body)
  }

  /// Behind a record that was set aside the next may be of any later place: that one may have begun an epoch.
  private func isNext(_ read: ZoneRecord) -> Bool {
    if mayHaveGap, read.epoch > epoch { return (read.body == .epoch) == (read.number == 0) }
    guard read.body != .epoch else { return read.epoch == epoch + 1 && read.number == 0 }
    return read.epoch == epoch && (read.number == number + 1 || mayHaveGap && read.number > number)
      && read.node == leader && successor == nil
  }

  /// The next record is one that nobody of the cluster has written: as if it was not there.
  package mutating func passOver(_ sequence: UInt64) { last = max(last, sequence) }

  private mutating func changes(_ body: ZoneRecord.Body) -> [UInt8]? {
    switch body {
    case .handover(let node):
      successor = node
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
package struct ZonePlace: Equatable, Sendable {
  package var sequence: UInt64
  package var epoch: UInt64
  package var number: UInt64
  package var leader: String?
  package var successor: String?

  package init(
    sequence: UInt64 = 0, epoch: UInt64 = 0, number: UInt64 = 0, leader: String? = nil,
    successor: String? = nil
  ) {
    (self.sequence, self.epoch, self.number) = (sequence, epoch, number)
    (self.leader, self.successor) = (leader, successor)
  }
}

/// A log that no leader can have written.
package struct ZoneLogDamage: Error, Equatable, Sendable, CustomStringConvertible {
  package let sequence: UInt64
  package let problem: String
  /// No node of any version has written it, so nothing is lost without it.
  package let isForeign: Bool

  package init(_ sequence: UInt64, _ problem: String, isForeign: Bool = false) {
    (self.sequence, self.problem, self.isForeign) = (sequence, problem, isForeign)
  }

  package var description: String { "record \(sequence) of the zone's log: \(problem)" }
}
