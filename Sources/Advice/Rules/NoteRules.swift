import Basics
import PushModel

/// What is worth knowing besides: TLS, error packets, stored notifications, payloads, the feedback service.
struct NoteRules {
  /// So many different tokens of removed apps must have been pushed to before the feedback service is spoken of, as a count. Ours.
  static let goneTokens = 3
  /// Apple: read it at least once a day (`Documentation/binary-protocol.md#feedback`), in nanoseconds.
  static let day = 24 * 60 * Numerals.minute
  /// A provider without a connection for so long has ended, in nanoseconds: many read the feedback behind their pushes. Ours.
  static let end = 60 * Numerals.second
  /// Credentials whose reading is remembered, as a count.
  static let readerLimit = 256

  /// A provider of the binary protocol that pushed to tokens of removed apps.
  private struct Reader {
    var credential: String
    var connection: UInt32
    var first: Moment
    var last: Moment
    var tokens: Set<UInt64> = []
    /// One of `tokens` was pushed to more than once.
    var comesAgain = false
    var pushes: UInt64 = 0
    var examples: [UInt64] = []
  }

  private var readers: [ProviderID: Reader] = [:]
  private var reads = BoundedTable<String, Instant>(limit: readerLimit)

  static func sawTLS(_ connection: KnownConnection, at moment: Moment, in findings: inout FindingTable) {
    guard !connection.saidOldTLS, let version = connection.tlsVersion else { return }
    guard version.hasPrefix("SSL") || version == "TLSv1" || version == "TLSv1.0" || version == "TLSv1.1"
    else { return }
    connection.saidOldTLS = true
    findings.add(Occurrence(.oldTLS, from: connection.origin, at: moment))
  }

  static func ended(
    _ connection: KnownConnection, _ end: SeenEnd, at moment: Moment, in findings: inout FindingTable
  ) {
    guard end.leftPacketUnread else { return }
    var occurrence = Occurrence(.errorPacketNotRead, from: connection.origin, at: moment)
    occurrence.fault = connection.errorPacket?.fault
    findings.add(occurrence)
  }

  static func replaced(
    _ push: UInt64, from origin: Origin, at moment: Moment, in findings: inout FindingTable
  ) {
    var occurrence = Occurrence(.replacedWhileOffline, from: origin, at: moment)
    occurrence.push = push
    findings.add(occurrence)
  }

  static func sawProblem(
    _ problem: PayloadProblem, push: UInt64, from origin: Origin, at moment: Moment,
    in findings: inout FindingTable
  ) {
    var occurrence = Occurrence(.payload, from: origin, at: moment)
    (occurrence.push, occurrence.problem) = (push, problem)
    findings.add(occurrence)
  }

  mutating func feedbackRead(_ credential: String, at moment: Moment) {
    reads.set(String(credential.prefix(ConnectionTable.nameLimit)), moment.instant)
  }

  mutating func saw(
    _ push: borrowing SeenPush, token compared: inout ComparedPush, on connection: KnownConnection,
    at moment: Moment
  ) {
    guard push.interface == .gateway, push.fault == nil, push.isForGoneApp || push.rejection == .unregistered
    else { return }
    var reader =
      readers[connection.provider]
      ?? Reader(
        credential: connection.credential, connection: connection.number, first: moment, last: moment)
    if reader.tokens.contains(compared.token) {
      reader.comesAgain = true
    } else if reader.tokens.count < Self.goneTokens {
      reader.tokens.insert(compared.token)
    }
    if reader.examples.count < Finding.exampleLimit { reader.examples.append(push.id) }
    reader.pushes = reader.pushes &+ 1
    reader.last = moment
    readers[connection.provider] = reader
  }

  mutating func timePassed(
    _ moment: Moment, hasEnded: (ProviderID) -> Bool, in findings: inout FindingTable
  ) {
    for (provider, reader) in readers {
      let age = moment.instant.nanoseconds(since: reader.first.instant)
      guard age >= Self.day || hasEnded(provider) else { continue }
      readers[provider] = nil
      report(reader, of: provider, at: moment, in: &findings)
    }
  }

  mutating func forget(_ provider: ProviderID) { readers[provider] = nil }

  /// What was read stays known: a provider need not read it again.
  mutating func clear() { readers = [:] }

  private func report(
    _ reader: Reader, of provider: ProviderID, at moment: Moment, in findings: inout FindingTable
  ) {
    guard reader.tokens.count >= Self.goneTokens else { return }
    if let read = reads[reader.credential], reader.first.instant.nanoseconds(since: read) < Self.day {
      return
    }
    let origin = Origin(provider: provider, connection: reader.connection)
    for (place, push) in reader.examples.enumerated() {
      var occurrence = Occurrence(.feedbackNotRead, from: origin, at: place == 0 ? reader.first : reader.last)
      occurrence.push = push
      let isLast = place == reader.examples.count - 1
      occurrence.count = isLast ? reader.pushes - UInt64(place) : 1
      if reader.comesAgain || moment.instant.nanoseconds(since: reader.first.instant) >= Self.day {
        occurrence.severity = .warning
      }
      findings.add(occurrence)
    }
  }
}

extension NoteRules {
  static let feedbackNotRead = RuleTerms(
    severity: .note,
    remedy: "Read the feedback service at least once a day, and delete the device tokens that it names."
  ) {
    let number = Numerals.count($0.count, "push", "pushes")
    return "\(number) went to device tokens of removed apps, and the feedback service was not read."
  }

  static let oldTLS = RuleTerms(
    severity: .note,
    remedy: "Use TLS 1.2 or later: Apple's service of today takes nothing else."
  ) {
    "\(Numerals.count($0.count, "connection", "connections")) used a version of TLS before 1.2."
  }

  static let errorPacketNotRead = RuleTerms(
    severity: .note,
    remedy:
      "Read from the connection while you write to it, and before you close it: an error packet may be there."
  ) {
    let number = Numerals.count($0.count, "connection was", "connections were")
    return "\(number) closed or written to while an error packet lay unread."
  }

  static let replacedWhileOffline = RuleTerms(
    severity: .note,
    remedy:
      "Let each push stand alone, so that the newest is enough; what must not be lost the app has to fetch."
  ) {
    $0.count == 1
      ? "1 notification, stored for a phone that is offline, was replaced by a newer one."
      : "\(Numerals.grouped($0.count)) notifications, stored for phones that are offline, were replaced by newer ones."
  }

  static let payload = RuleTerms(severity: .note, remedy: "Ask apns-emulator explain about the payload.") {
    "\(Numerals.grouped($0.count)) of the payloads looked at \($0.count == 1 ? "has" : "have") this problem: "
      + ($0.problem?.sentence ?? "explain names it.")
  }
}
