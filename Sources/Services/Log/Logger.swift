import Basics
import Platform

/// Writes log lines to standard error or a file, at the end of each turn. Text for people, JSON on request.
///
/// Nobody waits for whoever should read them: lines that find no room are dropped, counted, and told of later.
///
/// Nothing secret is ever handed to it: no key, no provider token, no payload (`Sources/ARCHITECTURE.md#promises` 6).
public final class Logger {
  /// Most lines in one second; what is over is counted and said in one line. A log must not slow the gateway down or
  /// fill a disk.
  public static let linesPerSecond = 10_000

  private let options: LogOptions
  private let clock: EmulatorClock
  private let output: BackgroundOutput
  private var buffer: [UInt8] = []
  private var secondBegan = Instant.distantPast
  private var linesThisSecond = 0
  private var suppressed = 0
  /// Lines that were left out because there were too many, and those that nobody took.
  private var suppressedTotal = 0
  public private(set) var unreadTotal = 0
  /// Of `unreadTotal`, those that the log has told of.
  private var unreadTold = 0

  /// Throws if the file can't be opened.
  public init(_ options: LogOptions, clock: EmulatorClock) throws(SocketError) {
    (self.options, self.clock) = (options, clock)
    output =
      if let file = options.file { try BackgroundOutput(appendingTo: file) } else {
        BackgroundOutput(StandardDescriptors.error)
      }
  }

  deinit { output.end() }

  public func isOn(_ level: LogLevel) -> Bool { level >= options.level }

  /// How many more lines this second takes.
  public func room() -> Int {
    let now = SystemClock.now()
    if now.nanoseconds(since: secondBegan) >= 1_000_000_000 { beginSecond(now) }
    return max(0, Self.linesPerSecond - linesThisSecond)
  }

  /// Lines that were left out because there were too many.
  public func countSuppressed(_ count: Int) {
    suppressed += count
    suppressedTotal += count
  }

  /// One line: what happened, then named values in order.
  public func log(_ level: LogLevel, _ event: String, _ fields: [(String, JSONValue)] = []) {
    guard isOn(level) else { return }
    guard room() > 0 else { return countSuppressed(1) }
    linesThisSecond += 1
    write(level, event, fields)
  }

  /// Hands on the lines of this turn; waits for nobody.
  public func flush() {
    guard !buffer.isEmpty || isOwingNotice else { return }
    tellOfUnread()
    unreadTotal = output.add(buffer.span)
    buffer.removeAll(keepingCapacity: buffer.capacity < 1 << 20)
  }

  /// Whether the log has yet to tell of lines that are missing.
  public var isOwingNotice: Bool { unreadTold < unreadTotal }

  /// Says where lines are missing, as soon as there is room to say so.
  private func tellOfUnread() {
    let state = output.state
    unreadTotal = state.dropped
    guard state.dropped > unreadTold, state.hasRoom else { return }
    let later = buffer
    buffer = []
    write(.warning, "log lines dropped", [("count", .integer(Int64(state.dropped - unreadTold)))])
    buffer += later
    unreadTold = state.dropped
  }

  /// Goes on in a new file if the log's file was moved away; throws if that can't be opened, and goes on in the old one.
  public func reopen() throws(SocketError) {
    if let file = options.file { try output.reopen(file) }
  }

  /// Gives the last lines a limited time to leave.
  public func finish() {
    flush()
    output.drain(within: Self.timeout)
    unreadTotal = output.state.dropped
  }

  /// How long the last lines may take to leave, in nanoseconds.
  private static let timeout: Int64 = 500_000_000

  private func beginSecond(_ now: Instant) {
    secondBegan = now
    linesThisSecond = 0
    guard suppressed > 0 else { return }
    let count = suppressed
    suppressed = 0
    write(.warning, "more lines left out", [("count", .integer(Int64(count)))])
  }

  private func write(_ level: LogLevel, _ event: String, _ fields: [(String, JSONValue)]) {
    let time = clock.now().rfc3339
    switch options.format {
    case .json:
      let head: [(String, JSONValue)] = [
        ("time", .string(time)), ("level", .string(level.rawValue)), ("event", .string(event)),
      ]
      buffer.append(contentsOf: JSONValue.object(head + fields).encoded)
    case .text:
      buffer.append(contentsOf: "\(time) \(level.rawValue) \(event)".utf8)
      for (name, value) in fields { buffer.append(contentsOf: " \(name)=\(Self.plain(value))".utf8) }
    }
    buffer.append(UInt8(ascii: "\n"))
  }

  /// Quotes only what has white space or quotes in it.
  private static func plain(_ value: JSONValue) -> String {
    guard case .string(let text) = value,
      text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "\"") })
    else { return value.text }
    return text
  }
}

/// What is logged, how it looks, and where it goes.
public struct LogOptions: Sendable {
  public var format = Format.text
  public var level = LogLevel.info
  /// Where lines are appended; nil for standard error.
  public var file: String?

  /// How lines look.
  public enum Format: String, Sendable, CaseIterable {
    case text, json
  }

  public init(file: String? = nil) { self.file = file }
}

/// Which log lines are written: this level and those above.
public enum LogLevel: String, Sendable, CaseIterable, Comparable {
  case debug, info, warning, error

  public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rank < right.rank }
  private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

extension Logger {
  public var metrics: [MetricFamily] {
    [
      MetricFamily(
        "apns_emulator_log_lines_dropped_total", .counter, "Log lines that were left out.",
        [
          .init(Double(suppressedTotal), [("because", "rate")]),
          .init(Double(unreadTotal), [("because", "unread")]),
        ])
    ]
  }
}
