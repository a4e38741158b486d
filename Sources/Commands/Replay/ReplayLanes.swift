/// The lanes of a replay: those in use, by the recorded connection that they stand for, and those that have got all they
/// will get and wait for outcomes.
///
///     in use ─finish→ finishing ─its onDone→ gone
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
  /// Called when a lane is gone.
  var onGone: () -> Void = {}

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
    lane.onDone = { [unowned self, unowned lane] in
      finishing[ObjectIdentifier(lane)] = nil
      touched[ObjectIdentifier(lane)] = nil
      onGone()
    }
    return lane
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
