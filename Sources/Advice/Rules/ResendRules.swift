import Basics

/// Frames that had been accepted before an error packet, and come again behind it: whoever starts a batch again from the start doubles them.
struct ResendRules {
  /// Frames that are looked for, of all providers, as a count.
  static let limit = 4096
  /// So many that come again, before anything that was lost does, are no accident.
  static let least: UInt64 = 3
  /// How long they are looked for, in nanoseconds.
  static let time = 60 * Numerals.second

  /// What was sent on a connection up to the error packet.
  private struct Batch {
    var origin: Origin
    var at: Instant
    var fault: String?
    /// By token: payloads.
    var accepted: [UInt64: [UInt64]] = [:]
    var count = 0
    /// What was lost behind the error packet: by token, and by token and payload.
    var lostTokens: Set<UInt64> = []
    var lostPushes: Set<[UInt64]> = []
    var cameAgain: UInt64 = 0
  }

  /// Batches that are looked for, as a count.
  static let batchLimit = 64
  private var batches: [Batch] = []

  var isLooking: Bool { !batches.isEmpty }

  mutating func errorPacket(from origin: Origin, fault: String?, at moment: Moment) {
    if batches.count >= Self.batchLimit { batches.removeFirst() }
    batches.append(Batch(origin: origin, at: moment.instant, fault: fault))
  }

  mutating func accepted(_ push: LostPush, on connection: UInt32) {
    guard let place = place(of: connection), batches[place].count < Adviser.acceptedLimit,
      batches.reduce(0, { $0 + $1.count }) < Self.limit
    else { return }
    var push = ComparedPush(push)
    batches[place].accepted[push.token, default: []].append(push.payload)
    batches[place].count += 1
  }

  mutating func lost(_ push: LostPush, on connection: UInt32) {
    guard let place = place(of: connection), batches[place].lostPushes.count < Adviser.acceptedLimit
    else { return }
    var push = ComparedPush(push)
    batches[place].lostTokens.insert(push.token)
    batches[place].lostPushes.insert([push.token, push.payload])
  }

  /// A push has come, on a connection that may be another.
  mutating func saw(
    _ push: inout ComparedPush, id: UInt64, from origin: Origin, at moment: Moment,
    in findings: inout FindingTable
  ) {
    lookForLost(&push, from: origin)
    guard
      let place = batches.firstIndex(where: {
        $0.origin.provider == origin.provider && $0.origin.connection < origin.connection
      })
    else { return }
    guard let accepted = batches[place].accepted[push.token] else {
      // The payload of what comes again may be new.
      if batches[place].lostTokens.contains(push.token) { batches.remove(at: place) }
      return
    }
    let payload = push.payload
    guard let known = accepted.firstIndex(of: payload) else { return }
    batches[place].accepted[push.token]?.remove(at: known)
    report(&batches[place], id: id, from: origin, at: moment, in: &findings)
  }

  mutating func timePassed(_ moment: Moment) {
    batches.removeAll { moment.instant.nanoseconds(since: $0.at) >= Self.time }
  }

  mutating func forget(_ provider: ProviderID) { batches.removeAll { $0.origin.provider == provider } }

  mutating func clear() { batches = [] }

  /// Where something lost comes, on whatever other connection, the others are sent again as they have to be: what comes from now on may be new
  /// pushes that look like old ones.
  private mutating func lookForLost(_ push: inout ComparedPush, from origin: Origin) {
    let token = push.token
    func mayHold(_ batch: Batch) -> Bool {
      batch.origin.provider == origin.provider && batch.origin.connection != origin.connection
        && batch.lostTokens.contains(token)
    }
    guard batches.contains(where: mayHold) else { return }
    let payload = push.payload
    batches.removeAll { mayHold($0) && $0.lostPushes.contains([token, payload]) }
  }

  private func place(of connection: UInt32) -> Int? {
    batches.lastIndex { $0.origin.connection == connection }
  }

  private func report(
    _ batch: inout Batch, id: UInt64, from origin: Origin, at moment: Moment, in findings: inout FindingTable
  ) {
    batch.cameAgain += 1
    guard batch.cameAgain >= Self.least, !batch.lostTokens.isEmpty else { return }
    var occurrence = Occurrence(.resentFromTheStart, from: origin, at: moment)
    occurrence.count = batch.cameAgain == Self.least ? Self.least : 1
    (occurrence.push, occurrence.fault) = (id, batch.fault)
    findings.add(occurrence)
  }
}

extension ResendRules {
  static let resentFromTheStart = RuleTerms(
    severity: .warning,
    remedy:
      "Behind an error packet send only what came after the notification that it names: all before it was accepted."
  ) {
    let number = Numerals.count($0.count, "notification", "notifications")
    return "\(number) that had been accepted before an error packet came a second time behind it."
  }
}
