import CLibrary

/// A program started by this one, with its standard output on a pipe.
public final class ChildProcess {
  public let pid: Int32
  private let output: PipeEnds
  private var buffered: [UInt8] = []
  private var hasEnded = false
  /// The largest resident memory that was seen, in bytes.
  private var peak = 0

  /// Starts `path` with `arguments` (without the program name).
  public init(_ path: String, _ arguments: [String]) throws {
    var ends = try PipeEnds(for: path)
    var spawn = Spawn()
    spawn.give(ends.writer, as: STDOUT_FILENO)
    pid = try spawn.start([path] + arguments)
    ends.closeWriter()
    output = ends
  }

  deinit { stop() }

  /// The next line of its output without the line end; nil when it has ended.
  public func nextLine() -> String? {
    while true {
      if let end = buffered.firstIndex(of: UInt8(ascii: "\n")) {
        let line = String(decoding: buffered[..<end], as: UTF8.self)
        buffered.removeFirst(end + 1)
        return line
      }
      awaitOutput()
      var chunk = [UInt8](repeating: 0, count: 4096)
      let count = DescriptorCalls.read(output.reader, into: &chunk)
      guard count > 0 else { return nil }
      buffered += chunk[..<count]
    }
  }

  /// Asks it to end and waits for that.
  public func stop() {
    guard !hasEnded else { return }
    hasEnded = true
    kill(pid, SIGTERM)
    Spawn.awaitEnd(of: pid)
  }

  /// Waits for its end; answers its largest resident memory in bytes, 0 where the system does not say.
  public func awaitEnd() -> Int {
    guard !hasEnded else { return 0 }
    hasEnded = true
    var (status, usage): (Int32, rusage) = (0, rusage())
    #if canImport(Darwin)
      while unsafe wait4(pid, &status, 0, &usage) < 0, errno == EINTR {}
      return Int(usage.ru_maxrss)
    #else
      while unsafe wait4(pid, &status, WNOHANG, &usage) == 0 {
        lookAtMemory()
        usleep(UInt32(Self.lookInterval) * 1000)
      }
      return peak
    #endif
  }

  /// Waits until it has written something, or has ended.
  private func awaitOutput() {
    #if !canImport(Darwin)
      repeat {
        lookAtMemory()
      } while DescriptorCalls.poll(output.reader, for: POLLIN, within: Self.lookInterval) == 0
    #endif
  }

  #if !canImport(Darwin)
    /// How often its memory is looked at, in milliseconds. The system keeps the highest mark, so only what comes after the last look
    /// is missed; of one that has ended there is nothing to see.
    private static let lookInterval: Int32 = 5

    /// `ru_maxrss` would not do: until the child runs its own program it is a part of this one, whose memory Linux counts as its.
    private func lookAtMemory() { peak = max(peak, Self.peak(of: pid)) }

    /// The most that a process has had resident since it runs its program, in bytes; 0 for one that has ended.
    private static func peak(of pid: pid_t) -> Int {
      let text = (try? TextFile.read("/proc/\(pid)/status")) ?? []
      let line = String(decoding: text, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
      let kibibytes = line.flatMap { Int($0.filter(\.isWholeNumber)) } ?? 0
      return kibibytes << 10
    }
  #endif
}
