import Basics
import Broker
import Capture
import Credentials
import LegacyWire
import Platform
import PushModel
import Services

/// Records provider traffic: what the journal has got since the last look goes to the writer's thread with the commit at the
/// end of each turn, and sooner when the journal is about to forget. The path of a push pays one comparison.
public final class CaptureRecorder {
  private let options: CaptureOptions
  private let broker: Broker
  private let logger: Logger
  private let limits: LegacyLimits
  private let spool = CaptureSpool()
  private var thread: WorkerThread?
  private let startedAt = SystemClock.now()
  /// The same by the wall clock.
  private let began = SystemClock.wallTime
  /// Set in `init`, and taken from the journal at the end.
  private var reader: JournalReader?
  private var digests = AuthorizationDigests()
  /// What another service or node is yet to decide about: such pushes are recorded when it has.
  private var awaited: Set<UInt64> = []
  private var reported: String?
  /// How the writer was doing at the last look.
  private(set) var report = CaptureReport()

  /// Touches no file before `start`.
  public init(
    _ options: CaptureOptions, broker: Broker, logger: Logger, limits: LegacyLimits, environment: Environment
  ) {
    (self.options, self.broker, self.logger, self.limits) = (options, broker, logger, limits)
    reader = broker.journal.add { [unowned self] in take($0) }
    var head = CaptureHead(kind: .opened, nanoseconds: 0)
    (head.interface, head.environment) = (.console, environment)
    tell(head, "")
  }

  deinit {
    if let reader { broker.journal.remove(reader) }
    spool.end()
  }

  /// Of the file, as it was given.
  public var path: String { options.path }

  /// How many pushes were recorded so far, and how many of them are in the file by now, or lost to a full disk. What a provider was
  /// answered is recorded; it is in the file a moment later.
  public var progress: (recorded: Int, written: Int) { spool.progress }

  private var elapsed: Int64 { SystemClock.now().nanoseconds(since: startedAt) }

  /// Opens the file, behind the checks of flags, files and ports; throws if it can't be written.
  public func start() throws {
    // Made here, so that a path that can't be written is told at the start; from then on it is the thread's alone.
    let file: CaptureFile
    do throws(SocketError) {
      file = try CaptureFile(options)
      try CaptureWriter.begin(file, startedAt: began)
    } catch {
      throw EmulatorError(.failed, error.description)
    }
    thread = WorkerThread(handingOver: file) { [spool, began] file in
      var writer = CaptureWriter(spool, file, startedAt: began)
      writer.run()
    }
    guard thread != nil else { throw EmulatorError(.failed, "can't start a thread to write the capture") }
  }

  // MARK: Pushes

  /// A commit begins, or has just been made, of all that has come in.
  public func commitBegins() {
    look()
    spool.beginAdding()
    spool.cover()
    report = spool.endAdding()
  }

  /// The commit is complete: what it covers may be written. Tells of trouble.
  public func commitEnded() {
    report = spool.release()
    guard report.failure != reported else { return }
    reported = report.failure
    if let failure = report.failure {
      logger.log(.warning, "capture suspended", [("because", .string(failure))])
    } else {
      logger.log(.info, "capture resumed", [("lost", .integer(Int64(report.lost)))])
    }
  }

  /// The turn could not be committed: nobody was told anything, and nothing was accepted.
  public func abandonTurn() {
    spool.discardHeld()
    if let reader { broker.journal.pass(reader) }
  }

  private func look() { if let reader { broker.journal.look(reader) } }

  private func take(_ ids: Range<UInt64>) {
    spool.beginAdding()
    spool.hold()
    if !ids.isEmpty {
      let now = elapsed
      for id in ids where awaited.isEmpty || !awaited.contains(id) {
        if let record = broker.journal[id] { add(record, now) }
      }
    }
    report = spool.endAdding()
  }

  /// Most are frames that were accepted: of their records nothing else is read, or copied.
  private func add(_ record: borrowing JournalRecord, _ now: Int64) {
    guard record.interface == .gateway, record.rejection == nil else { return addOther(record, now) }
    spool.add(record.raw, connection: record.connection, nanoseconds: now)
  }

  private func addOther(_ record: borrowing JournalRecord, _ now: Int64) {
    var head = CaptureHead(kind: record.interface == .gateway ? .frame : .request, nanoseconds: now)
    head.rejection = record.rejection
    head.connection = record.connection
    if record.interface == .gateway {
      head.command = record.command
      if let rejection = record.rejection { head.identifier = reportedIdentifier(record, rejection) }
      spool.add(head, record.raw)
    } else {
      head.credential = record.credential
      head.apnsID = record.apnsID
      spool.add(head, record.fieldBlock, record.payload)
    }
  }

  /// The identifier as the error packet says it, which is not always the frame's own.
  private func reportedIdentifier(_ record: borrowing JournalRecord, _ rejection: Rejection) -> UInt32 {
    guard rejection == .missingDeviceToken, !record.raw.isEmpty,
      case .notification(let notification) = LegacyFrameParser.next(in: record.raw)
    else { return record.identifier }
    return LegacyCheck.reportedIdentifier(notification, rejection, limits)
  }

  // MARK: Connections

  /// A provider has connected; connections are numbered by whoever tells of them, from 1.
  public func connectionOpened(
    _ number: UInt32, _ interface: Interface, _ environment: Environment, topic: String?
  ) {
    var head = CaptureHead(kind: .opened, nanoseconds: elapsed)
    (head.interface, head.environment, head.connection) = (interface, environment, number)
    tell(head, topic ?? "")
  }

  /// Nothing more comes from there.
  public func connectionClosed(_ number: UInt32) {
    look()
    var head = CaptureHead(kind: .closed, nanoseconds: elapsed)
    head.connection = number
    tell(head, "")
  }

  /// The number of what stands for an authorization.
  public func credential(_ authorization: Span<UInt8>) -> UInt32 {
    digests.number(of: authorization) { number, text in
      var head = CaptureHead(kind: .credential, nanoseconds: elapsed)
      head.credential = number
      tell(head, text)
    }
  }

  private func tell(_ head: CaptureHead, _ text: String) {
    spool.beginAdding()
    let bytes = Array(text.utf8)
    spool.add(head, bytes.span)
    report = spool.endAdding()
  }

  /// Goes on in a new file if the capture was moved away, behind everything that has come so far.
  public func reopen() {
    look()
    spool.reopen()
  }

  /// Writes what is left, and ends.
  public func finish() {
    commitBegins()
    report = spool.release()
    spool.end()
    thread?.join()
    if let reader { broker.journal.remove(reader) }
    reader = nil
  }
}

/// What is decided elsewhere.
extension CaptureRecorder {
  /// Somebody else is to decide about a notification of the history.
  public func awaits(_ id: UInt64) { awaited.insert(id) }

  /// The verdict is there. One that its provider will send again is recorded then.
  public func decided(_ id: UInt64, isRecorded: Bool) {
    awaited.remove(id)
    // Else the end of the turn finds it, with its verdict.
    guard isRecorded, let reader, id < reader.nextId else { return }
    spool.beginAdding()
    spool.hold()
    if let record = broker.journal[id] { add(record, elapsed) }
    report = spool.endAdding()
  }
}

extension CaptureRecorder {
  public var metrics: [MetricFamily] {
    [
      MetricFamily(
        "apns_emulator_capture_bytes_total", .counter, "Bytes written to the capture.", value: report.bytes),
      MetricFamily(
        "apns_emulator_capture_lost_total", .counter, "Pushes that are missing in the capture.",
        value: report.lost),
      MetricFamily(
        "apns_emulator_capture_suspended", .gauge, "1 while the capture can't be written, else 0.",
        value: report.failure == nil ? 0 : 1),
    ]
  }
}

/// Where provider traffic is recorded, and how much of it is kept.
public struct CaptureOptions: Sendable, Equatable {
  /// Default of `--capture-keep`, as a count.
  public static let defaultKept = 8

  public var path: String
  /// Size at which FILE becomes FILE.1 and a new one is begun, in bytes; nil for never.
  public var rotatesAt: Int?
  /// How many rotated files are kept.
  public var kept = defaultKept

  public init(path: String) { self.path = path }
}
