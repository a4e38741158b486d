import Platform
import PushModel

/// Writes log lines to standard error, at the end of each turn. Text for people, JSON on request.
///
/// Nothing secret is ever handed to it: no key, no provider token, no payload (`design.md`, promise 6).
public final class Logger {
  /// Most lines in one second; what is over is counted and said in one line. A log must not slow the gateway down or
  /// fill a disk.
  public static let linesPerSecond = 10_000

  public let format: LogFormat
  public let level: LogLevel
  private let clock: EmulatorClock
  private var buffer: [UInt8] = []
  private var secondBegan: Int64 = 0
  private var linesThisSecond = 0
  private var suppressed = 0

  public init(format: LogFormat, level: LogLevel, clock: EmulatorClock) {
    (self.format, self.level, self.clock) = (format, level, clock)
  }

  public func isOn(_ level: LogLevel) -> Bool { level >= self.level }

  /// How many more lines this second takes.
  public func room() -> Int {
    let now = SystemClock.monotonicNanoseconds()
    if now - secondBegan >= 1_000_000_000 { beginSecond(now) }
    return max(0, Self.linesPerSecond - linesThisSecond)
  }

  /// Lines that were left out because there were too many.
  public func countSuppressed(_ count: Int) { suppressed += count }

  /// One line: what happened, then named values in order.
  public func log(_ level: LogLevel, _ event: String, _ fields: [(String, JSONValue)] = []) {
    guard isOn(level) else { return }
    guard room() > 0 else { return suppressed += 1 }
    linesThisSecond += 1
    write(level, event, fields)
  }

  /// Hands the lines of this turn to the system.
  public func flush() {
    guard !buffer.isEmpty else { return }
    buffer.withUnsafeBytes { bytes in
      var rest = bytes
      while let base = rest.baseAddress, !rest.isEmpty {
        let count = Platform.write(STDERR_FILENO, base, rest.count)
        guard count > 0 else { return }
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      }
    }
    buffer.removeAll(keepingCapacity: buffer.capacity < 1 << 20)
  }

  private func beginSecond(_ now: Int64) {
    secondBegan = now
    linesThisSecond = 0
    guard suppressed > 0 else { return }
    let count = suppressed
    suppressed = 0
    write(.warning, "more lines left out", [("count", .integer(Int64(count)))])
  }

  private func write(_ level: LogLevel, _ event: String, _ fields: [(String, JSONValue)]) {
    let time = clock.now().rfc3339
    switch format {
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
