import CLibrary

/// A program with all that it starts: whoever has started it can end them all.
///
///     let family = try ProcessFamily(["./send-batch"], variables: ["RUN": folder], mark: "RUN")
///
/// It has a process group of its own, so that Ctrl-C in a terminal is not for it. What leaves the group is known by a variable with a value
/// that no other program has, where the system shows variables. Nothing is on its standard input; standard output and standard error go
/// into one pipe, which is read without waiting.
public final class ProcessFamily {
  /// Most bytes of a process's variables that are looked at. Linux allows more, and nobody has them.
  private static let variablesLimit = 1 << 20

  public let pid: Int32
  private let pipe: PipeEnds
  /// The variable with its value.
  private let mark: [UInt8]
  private var status: Int32?

  /// Starts `words`, looking for the program in PATH. `variables` come on top of this process's own; `mark` names the one that no other
  /// program has with its value.
  public init(_ words: [String], variables: [String: String], mark: String) throws(SocketError) {
    var ends = try PipeEnds(for: words.first ?? "")
    var spawn = Spawn(ownGroup: true)
    spawn.giveNothing(as: STDIN_FILENO)
    spawn.give(ends.writer, as: STDOUT_FILENO)
    spawn.give(ends.writer, as: STDERR_FILENO)
    pid = try spawn.start(words, variables: variables, operation: "run")
    ends.closeWriter()
    SocketCalls.makeNonBlocking(ends.reader)
    pipe = ends
    self.mark = Array("\(mark)=\(variables[mark] ?? "")".utf8)
  }

  deinit {
    killAll()
    if status == nil { Spawn.awaitEnd(of: pid) }
  }

  // MARK: Output

  /// To be watched until `read` says that there is no more.
  public var output: Int32 { pipe.reader }

  /// What was said since, at most so many bytes: nil for nothing at the moment, empty at the end.
  public func read(atMost limit: Int) -> [UInt8]? {
    var chunk = [UInt8](repeating: 0, count: limit)
    while true {
      let count = DescriptorCalls.read(pipe.reader, into: &chunk)
      if count >= 0 { return Array(chunk.prefix(count)) }
      if errno != EINTR { return errno == EAGAIN || errno == EWOULDBLOCK ? nil : [] }
    }
  }

  // MARK: The end

  /// Whether the program itself has ended. Its number stays its own until `reap`.
  public var hasEnded: Bool {
    guard status == nil else { return true }
    var found = unsafe siginfo_t()
    guard unsafe waitid(P_PID, id_t(pid), &found, WEXITED | WNOHANG | WNOWAIT) == 0 else {
      return errno == ECHILD
    }
    return unsafe found.si_signo == SIGCHLD
  }

  /// Asks all of the group to end.
  public func terminate() { if status == nil { kill(-pid, SIGTERM) } }

  /// Ends all of it at once; answers how many others than the program itself there were.
  @discardableResult
  public func killAll() -> Int {
    var count = 0
    // One may start another between the look and the end.
    for _ in 0..<3 {
      let others = self.others
      count = max(count, others.count)
      if status == nil { kill(-pid, SIGKILL) }
      for other in others { kill(other, SIGKILL) }
      if others.isEmpty { break }
    }
    return count
  }

  /// How the program ended, as a shell tells it, once it has: its exit status, or 128 and the signal. From then on its group is left alone,
  /// as its number may be another's.
  public func reap() -> Int32 {
    if let status { return status }
    let ended = Spawn.exitStatus(of: pid) ?? 128 + SIGKILL
    status = ended
    return ended
  }

  /// Processes that it has started, or that those have, and that are still there; none where the system has no `/proc`.
  public var others: [Int32] {
    let own = getpid()
    return FolderNames.read("/proc").compactMap { Int32($0) }.filter {
      $0 != pid && $0 != own && isMarked($0)
    }
  }

  private func isMarked(_ other: Int32) -> Bool {
    guard let text = try? TextFile.read("/proc/\(other)/environ", limit: Self.variablesLimit) else {
      return false
    }
    return text.split(separator: 0).contains { $0.elementsEqual(mark) }
  }
}
