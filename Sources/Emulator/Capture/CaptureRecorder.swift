import Basics
import Broker
import Capture
import Console
import Credentials
import LegacyWire
import Platform
import PushModel
import Runtime

/// Records provider traffic: what the journal has got since the last look goes to the writer's thread with the commit at the
/// end of each turn, and sooner when the journal is about to forget. The path of a push pays one comparison.
final class CaptureRecorder {
  private let broker: Broker
  private let logger: Logger
  private let limits: LegacyLimits
  private let spool = CaptureSpool()
  private let thread: WorkerThread
  private let startedAt = SystemClock.monotonicNanoseconds()
  private var nextId: UInt64
  private var connections: UInt32 = 0
  private var digests = AuthorizationDigests()
  /// Another service decides about what comes over the gateway: such pushes are recorded when it has.
  private let awaitsVerdicts: Bool
  /// Whether another node is yet to decide about a notification; nil where there is none, and the history says it.
  var isAwaited: ((UInt64) -> Bool)?
  private var reported: String?
  /// How the writer was doing at the last look.
  private(set) var report = CaptureReport()

  /// Opens the file; throws if it can't be written.
  init(
    _ options: CaptureOptions, broker: Broker, logger: Logger, limits: LegacyLimits, environment: Environment,
    awaitsVerdicts: Bool
  ) throws {
    (self.broker, self.logger, self.limits) = (broker, logger, limits)
    self.awaitsVerdicts = awaitsVerdicts
    nextId = broker.journal.nextId
    thread = try Self.startWriter(options, spool)
    broker.journal.drain = { [unowned self] in drain() }
    broker.journal.drainsFrom = nextId + backlog
    tell(CaptureHead(kind: .opened, interface: .console, environment: environment, nanoseconds: 0), "")
  }

  deinit { spool.end() }

  /// Most records that may be unseen, as a count: so few that they are still in the processor's second cache when they are
  /// copied.
  private static let recordsInCache = 512

  /// How many records may be unseen before the journal is about to forget them, or they leave the cache.
  private var backlog: UInt64 { UInt64(min(broker.journal.capacity / 2, Self.recordsInCache)) }
  private var elapsed: Int64 { SystemClock.monotonicNanoseconds() - startedAt }

  private static func startWriter(_ options: CaptureOptions, _ spool: CaptureSpool) throws -> WorkerThread {
    // Made here, so that a path that can't be written is told at the start; from then on it is the thread's alone.
    nonisolated(unsafe) let writer: CaptureWriter
    do throws(CaptureFileError) {
      let began = Timestamp(nanoseconds: SystemClock.wallNanoseconds())
      writer = try CaptureWriter(spool, CaptureFile(options), startedAt: began)
    } catch {
      throw EmulatorError(.failed, error.sentence)
    }
    let thread = WorkerThread { writer.run() }
    guard let thread else { throw EmulatorError(.failed, "the system has no thread for the capture") }
    return thread
  }

  // MARK: Pushes

  /// A commit begins, or has just been made, of all that has come in.
  func commitBegins() { drain(isCovered: true) }

  /// The commit is complete: what it covers may be written. Tells of trouble.
  func commitEnded() {
    report = spool.release()
    guard report.failure != reported else { return }
    reported = report.failure
    if let failure = report.failure {
      logger.log(.warning, "capture suspended", [("because", .string(failure))])
    } else {
      logger.log(.info, "capture goes on", [("lost", .integer(Int64(report.lost)))])
    }
  }

  /// The turn could not be committed: nobody was told anything, and nothing was accepted.
  func abandonTurn() {
    spool.discardHeld()
    nextId = broker.journal.nextId
  }

  private func drain(isCovered: Bool = false) {
    let journal = broker.journal
    let (first, end) = (max(nextId, journal.firstId), journal.nextId)
    nextId = end
    journal.drainsFrom = end + backlog
    spool.beginAdding()
    spool.hold()
    if first < end {
      let now = elapsed
      journal.withRecords(first..<end) { records in
        guard let start = records.baseAddress else { return }
        for record in start..<start + records.count where !awaitsVerdicts || !isUndecided(record.pointee) {
          add(record, now)
        }
      }
    }
    if isCovered { spool.cover() }
    report = spool.endAdding()
  }

  /// Another service has decided about this one.
  func decided(_ id: UInt64) {
    // Else the end of the turn finds it, with its verdict.
    guard id < nextId else { return }
    spool.beginAdding()
    spool.hold()
    broker.journal.withRecords(id..<id + 1) { records in
      if let record = records.baseAddress { add(record, elapsed) }
    }
    report = spool.endAdding()
  }

  private func isUndecided(_ record: JournalRecord) -> Bool {
    if let isAwaited { return isAwaited(record.id) }
    guard record.state == .stored || record.state == .sent else { return false }
    return broker.journal.detail(record.id)?.upstream != nil
  }

  /// Most are frames that were accepted: of their records nothing else is read, or copied.
  @inline(__always)
  private func add(_ record: UnsafePointer<JournalRecord>, _ now: Int64) {
    guard record.pointee.interface == .gateway, record.pointee.rejection == nil else {
      return addOther(record.pointee, now)
    }
    spool.add(record.pointee.raw, connection: record.pointee.connection, nanoseconds: now)
  }

  private func addOther(_ record: JournalRecord, _ now: Int64) {
    var head = CaptureHead(kind: record.interface == .gateway ? .frame : .request, nanoseconds: now)
    head.rejection = record.rejection
    head.connection = record.connection
    if record.interface == .gateway {
      head.command = record.command
      if let rejection = record.rejection { head.identifier = reportedIdentifier(record, rejection) }
      add(head, record.raw, UnsafeRawBufferPointer(start: nil, count: 0))
    } else {
      head.credential = record.credential
      head.apnsID = record.apnsID
      add(head, record.fieldBlock, record.payload)
    }
  }

  @inline(__always)
  private func add(_ head: CaptureHead, _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) {
    var head = head
    head.firstCount = UInt32(truncatingIfNeeded: first.count)
    head.secondCount = UInt32(truncatingIfNeeded: second.count)
    spool.add(head, first, second)
  }

  /// The identifier as the error packet says it, which is not always the frame's own.
  private func reportedIdentifier(_ record: JournalRecord, _ rejection: Rejection) -> UInt32 {
    guard rejection == .missingDeviceToken, !record.raw.isEmpty,
      case .notification(let notification) = LegacyFrameParser.next(in: record.raw)
    else { return record.identifier }
    return LegacyCheck.reportedIdentifier(notification, rejection, limits)
  }

  // MARK: Connections

  /// A provider has connected; answers its number.
  func connectionOpened(_ interface: Interface, _ environment: Environment, topic: String?) -> UInt32 {
    connections &+= 1
    var head = CaptureHead(
      kind: .opened, interface: interface, environment: environment, nanoseconds: elapsed)
    head.connection = connections
    tell(head, topic ?? "")
    return connections
  }

  /// A provider has connected to the gateway; answers its number.
  func gatewayOpened(_ provider: GatewayProvider) -> UInt32 {
    let topic = provider.topic.map { broker.registry[$0].label }
    return connectionOpened(.gateway, provider.environment, topic: topic)
  }

  /// Nothing more comes from there.
  func connectionClosed(_ number: UInt32) {
    guard number > 0 else { return }
    drain()
    var head = CaptureHead(kind: .closed, nanoseconds: elapsed)
    head.connection = number
    tell(head, "")
  }

  /// The number of what stands for an authorization.
  func credential(_ authorization: UnsafeRawBufferPointer) -> UInt32 {
    digests.number(of: authorization) { number, text in
      var head = CaptureHead(kind: .credential, nanoseconds: elapsed)
      head.credential = number
      tell(head, text)
    }
  }

  private func tell(_ head: CaptureHead, _ text: String) {
    spool.beginAdding()
    Array(text.utf8).withUnsafeBytes { add(head, $0, UnsafeRawBufferPointer(start: nil, count: 0)) }
    report = spool.endAdding()
  }

  /// Goes on in a new file if the capture was moved away, behind everything that has come so far.
  func reopen() {
    drain()
    spool.reopen()
  }

  /// Writes what is left, and ends.
  func finish() {
    drain(isCovered: true)
    report = spool.release()
    spool.end()
    thread.join()
    broker.journal.drain = {}
    broker.journal.drainsFrom = .max
  }
}

extension CaptureRecorder {
  var metrics: [MetricFamily] {
    [
      MetricFamily(
        "apns_emulator_capture_bytes_total", .counter, "Bytes written to the capture.", value: report.bytes),
      MetricFamily(
        "apns_emulator_capture_lost_total", .counter, "Notifications that the capture could not hold.",
        value: report.lost),
      MetricFamily(
        "apns_emulator_capture_suspended", .gauge, "1 while the capture can't be written.",
        value: report.failure == nil ? 0 : 1),
    ]
  }
}

/// Where a push came from, in the numbers of the capture; zeros while nothing is captured.
struct PushSource {
  var connection: UInt32 = 0
  var credential: UInt32 = 0

  init(connection: UInt32) { self.connection = connection }

  init(connection: UInt32, _ message: HTTPMessage, _ capture: CaptureRecorder?) {
    guard let capture else { return }
    self.connection = connection
    if let authorization = message[.authorization] { credential = capture.credential(authorization) }
  }
}

/// Numbers for authorization values, by what may be written of them: a digest of key and team, the same for every token
/// that they sign. Of anything that is no provider token nothing is kept.
struct AuthorizationDigests {
  /// Most digests told apart, as a count: who sends more is not a provider but a fuzzer.
  private static let limit = 10_000
  private static let scheme = Array("bearer ".utf8)

  private var numbers: [String: UInt32] = [:]
  /// The value seen last, and its number: nearly every request shows the same.
  private var latest: (value: [UInt8], number: UInt32) = ([], 0)

  /// The number of a value; `define` hears of a new one.
  mutating func number(of value: UnsafeRawBufferPointer, _ define: (UInt32, String) -> Void) -> UInt32 {
    if latest.number > 0, latest.value.withUnsafeBytes({ value.hasSameBytes(as: $0) }) {
      return latest.number
    }
    var text = Self.text(value)
    if numbers[text] == nil, numbers.count >= Self.limit { text = CaptureFormat.unreadable }
    let number = numbers[text] ?? UInt32(numbers.count + 1)
    if numbers.updateValue(number, forKey: text) == nil { define(number, text) }
    latest = (Array(value), number)
    return number
  }

  private static func text(_ value: UnsafeRawBufferPointer) -> String {
    let scheme = value.prefix(Self.scheme.count).map { $0 | 0x20 }
    guard scheme == Self.scheme,
      case .success(let token) = ProviderToken.parse(Array(value.dropFirst(Self.scheme.count)))
    else { return CaptureFormat.unreadable }
    return CaptureFormat.digestPrefix + ProviderToken.digest(keyId: token.keyId, teamId: token.teamId)
  }
}
