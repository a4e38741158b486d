import Basics
import Capture
import Platform
import Services

/// The thread that turns records into lines and lines into a file. It shares nothing with the loop but the spool.
struct CaptureWriter: ~Copyable {
  /// Lines are handed to the system once there are so many bytes of them.
  private static let burst = 1 << 20
  /// Whoever finds so many bytes of records at a time will find more soon.
  private static let heavy = 32 << 10
  /// How long nothing is tried after a failure, in nanoseconds: the disk may get room again.
  private static let pause: Int64 = 1_000_000_000

  private let spool: CaptureSpool
  private let file: CaptureFile
  private let startedAt: Timestamp
  private var encoder = CaptureEncoder(alignment: UncachedOutput.block)
  private var report = CaptureReport()
  /// Of pushes in the encoder, and of those that are lost and not yet told of.
  private var pushesInEncoder = 0
  private var untold = 0
  private var retryAt = Instant.distantPast
  /// A new file was begun and has no header yet.
  private var needsBeginning = false
  private var latest: Int64 = 0
  /// Connections that are open, for the beginning of the next file.
  private var open: [UInt32: CapturedConnection] = [:]
  private var credentials: [UInt32: String] = [:]

  /// Writes the first line of a file.
  static func begin(_ file: CaptureFile, startedAt: Timestamp) throws(SocketError) {
    var encoder = CaptureEncoder()
    encoder.header(startedAt: startedAt, software: EmulatorVersion.current)
    try file.append(encoder.bytes)
  }

  /// Goes on with a file that was begun.
  init(_ spool: CaptureSpool, _ file: CaptureFile, startedAt: Timestamp) {
    (self.spool, self.file, self.startedAt) = (spool, file, startedAt)
    encoder.removeAll(forFileOf: file.size)
  }

  /// Writes until the spool has ended.
  mutating func run() {
    var records = CaptureMemory()
    var isHeavy = false
    while spool.take(&records, report, isHeavy: isHeavy) {
      isHeavy = records.size >= Self.heavy
      records.forEach { encode($0, $1, $2) }
      flush()
      if spool.takeReopening() { reopen() }
      records.removeAll()
    }
  }

  // MARK: Lines

  private mutating func encode(_ head: CaptureHead, _ first: Span<UInt8>, _ second: Span<UInt8>) {
    write(head, first, second)
    if encoder.bytes.count >= Self.burst { flush() }
  }

  @inline(__always)
  private mutating func write(_ head: CaptureHead, _ first: Span<UInt8>, _ second: Span<UInt8>) {
    latest = head.nanoseconds
    switch head.kind {
    case .frame:
      pushesInEncoder += 1
      encoder.frame(
        first, connection: head.connection, nanoseconds: head.nanoseconds, outcome: head.legacyOutcome)
    case .frames:
      pushesInEncoder += Int(head.frames)
      encoder.frames(
        first, count: Int(head.frames), connection: head.connection, nanoseconds: head.nanoseconds)
    case .request:
      pushesInEncoder += 1
      encoder.request(
        fields: first, authorization: credentials[head.credential] ?? "", body: second,
        connection: head.connection, nanoseconds: head.nanoseconds, outcome: head.outcome)
    case .opened: opened(head, topic: first.text)
    case .closed:
      open[head.connection] = nil
      encoder.connectionClosed(head.connection, nanoseconds: head.nanoseconds)
    case .credential: credentials[head.credential] = first.text
    }
  }

  private mutating func opened(_ head: CaptureHead, topic: String) {
    let connection = CapturedConnection(
      number: head.connection, interface: head.interface, environment: head.environment,
      topic: topic.isEmpty ? nil : topic)
    open[head.connection] = connection
    encoder.connection(connection, nanoseconds: head.nanoseconds)
  }

  // MARK: The file

  private mutating func flush() {
    defer {
      encoder.removeAll(forFileOf: file.size)
      report.pushes += pushesInEncoder
      pushesInEncoder = 0
    }
    guard !encoder.bytes.isEmpty else { return }
    guard report.failure == nil || SystemClock.now() >= retryAt else { return lose() }
    do throws(SocketError) {
      if file.isFull {
        try file.rotate()
        needsBeginning = true
      }
      if needsBeginning { try writeBeginning() }
      if untold > 0 { try tellOfLost() }
      try file.append(encoder.bytes)
      let count = encoder.bytes.count
      report.bytes += count
      report.failure = nil
    } catch {
      report.failure = error.description
      retryAt = SystemClock.now().adding(nanoseconds: Self.pause)
      lose()
    }
  }

  private mutating func lose() {
    report.lost += pushesInEncoder
    untold += pushesInEncoder
  }

  /// A gap is told of where it is, as soon as there is room to say so.
  private mutating func tellOfLost() throws(SocketError) {
    var line = CaptureEncoder()
    line.lost(untold, nanoseconds: latest)
    // Connections may have come and gone in the gap.
    for connection in open.values { line.connection(connection, nanoseconds: latest) }
    try file.append(line.bytes)
    untold = 0
  }

  /// The file may have been moved away; what was written before is in it, what follows goes to a new one.
  private mutating func reopen() {
    do throws(SocketError) {
      guard try file.reopen() else { return }
      needsBeginning = true
      try writeBeginning()
      report.failure = nil
    } catch {
      report.failure = error.description
    }
  }

  /// Every file stands for itself: it begins with a header and the connections that are open.
  private mutating func writeBeginning() throws(SocketError) {
    var lines = CaptureEncoder()
    lines.header(startedAt: startedAt, software: EmulatorVersion.current)
    for number in open.keys.sorted() {
      if let connection = open[number] { lines.connection(connection, nanoseconds: latest) }
    }
    try file.append(lines.bytes)
    needsBeginning = false
  }
}

extension CaptureHead {
  fileprivate var legacyOutcome: CapturedOutcome? {
    guard let rejection else { return nil }
    var outcome = CapturedOutcome(status: Int(rejection.legacyStatus), reason: rejection.reason)
    if command == 0 { outcome.isClosed = true } else { outcome.identifier = identifier }
    return outcome
  }

  fileprivate var outcome: CapturedOutcome {
    CapturedOutcome(status: rejection?.status ?? 200, reason: rejection?.reason, apnsID: apnsID)
  }
}
