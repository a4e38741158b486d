import Capture
import Platform
import Transport

/// What one recorded connection is replayed on. Connects again as often as it takes.
package protocol ReplayLane: AnyObject {
  var address: SocketAddress { get }
  /// Whether it has as much to do as it should.
  var isFull: Bool { get }
  /// Bytes held until their outcome is known.
  var heldBytes: Int { get }
  /// Sends what waits.
  func advance()
  /// Nothing more comes; its owner hears when every outcome is known.
  func finish()
  /// Asks about what was sent, to give memory back.
  func confirm()
}

/// Whose lanes they are.
package protocol LaneOwner: AnyObject {
  /// What has become of a push.
  func settled(_ push: ReplayedPush)
  /// So many more have met silence, then and now.
  func silences(_ count: Int)
  /// Something has come or gone.
  func progressed()
  /// Nobody takes its connections; the lane does nothing more.
  func failed(_ lane: any ReplayLane, _ why: String)
  /// Nothing is left to do after `finish`; told once.
  func ended(_ lane: any ReplayLane)
}

/// What happened to one push.
package struct ReplayedPush {
  /// The word of its `ReplayTag`.
  package var tag: Int
  /// Of the frame, if it was one and has one.
  package var identifier: UInt32?
  package var recorded: CapturedOutcome
  package var recordedForm: OutcomeComparison.Form
  /// nil if nobody told.
  package var outcome: CapturedOutcome?
  package var form: OutcomeComparison.Form
  /// Why there is no outcome.
  package var failure = ""
}

/// The lanes of a replay: those in use, by the recorded connection that they stand for, and those that have got all they
/// will get and wait for outcomes.
///
///     in use ─finish→ finishing ─ended→ gone
final class ReplayLanes {
  /// A recorded connection, and the topic where one connection becomes several.
  struct Key: Hashable {
    var connection: UInt32
    var topic: String?
  }

  /// Bytes of frames whose outcome is unknown, over all lanes, before every lane asks.
  private static let heldLimit = 12 << 20
  /// Lanes that still wait for outcomes while others go on.
  private static let finishingLimit = 64

  private var inUse: [Key: any ReplayLane] = [:]
  private var finishing: [ObjectIdentifier: any ReplayLane] = [:]
  /// Those that got something since `advance`.
  private var touched: [ObjectIdentifier: any ReplayLane] = [:]

  var isEmpty: Bool { inUse.isEmpty && finishing.isEmpty }
  /// Whether so many wait for outcomes that no others should be begun.
  var hasTooManyFinishing: Bool { finishing.count >= Self.finishingLimit }

  /// The lane of a connection, which is about to get something.
  @inline(__always)
  func lane<Lane: ReplayLane>(_ key: Key, _ make: () throws -> Lane) rethrows -> Lane {
    if let lane = inUse[key] as? Lane {
      touched[ObjectIdentifier(lane)] = lane
      return lane
    }
    let lane = try make()
    inUse[key] = lane
    touched[ObjectIdentifier(lane)] = lane
    return lane
  }

  func ended(_ lane: any ReplayLane) {
    finishing[ObjectIdentifier(lane)] = nil
    touched[ObjectIdentifier(lane)] = nil
  }

  /// Lets those that got something send it.
  func advance() {
    let lanes = touched
    touched.removeAll(keepingCapacity: true)
    for lane in lanes.values { lane.advance() }
  }

  /// Whether there is memory for more; if not, every lane asks what became of what it holds.
  func haveRoom() -> Bool {
    let all = inUse.values.map { $0 } + finishing.values.map { $0 }
    if all.reduce(0, { $0 + $1.heldBytes }) <= Self.heldLimit { return true }
    for lane in all { lane.confirm() }
    return false
  }

  /// Nothing more comes for a connection.
  func finish(_ connection: UInt32) {
    for key in inUse.keys where key.connection == connection { finish(key) }
  }

  /// Nothing more comes for any.
  func finishAll() {
    for key in inUse.keys { finish(key) }
  }

  private func finish(_ key: Key) {
    guard let lane = inUse.removeValue(forKey: key) else { return }
    finishing[ObjectIdentifier(lane)] = lane
    lane.finish()
  }
}

/// Where a push stands in the captures, in one word: file, line and place in its line. The tags of frames that share a
/// line follow each other.
package struct ReplayTag {
  /// Bits of the place, and of the line; the file is above.
  private static let placeBits = 17
  private static let lineBits = 32

  let word: Int

  package init(_ word: Int) { self.word = word }

  init(file: Int, _ entry: CaptureEntry) {
    word = (file << Self.lineBits | entry.line) << Self.placeBits | Int(entry.place)
  }

  /// Counted from 0.
  package var file: Int { word >> (Self.placeBits + Self.lineBits) }
  /// Counted from 1.
  package var line: Int { word >> Self.placeBits & (1 << Self.lineBits - 1) }
  /// Counted from 0.
  package var place: Int { word & (1 << Self.placeBits - 1) }
}
