import CArguments
import CLibrary

/// The words that this process was started with.
public enum ProcessArguments {
  /// Without the program's name. `CommandLine` reads them from `/proc`, which a container or a jail may be without.
  public static var words: [String] {
    (1..<max(1, started_with_count())).compactMap {
      unsafe started_with($0).map { unsafe String(cString: $0) }
    }
  }
}

/// The variables that this process was started with.
public enum ProcessEnvironment {
  public static var variables: [String: String] {
    var result: [String: String] = [:]
    for entry in entries {
      let text = String(characters: entry)
      let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if parts.count == 2 { result[String(parts[0])] = String(parts[1]) }
    }
    return result
  }

  /// As they are, each with the zero at its end: their values may be no UTF-8.
  static var entries: [[CChar]] {
    var (result, entry) = unsafe ([[CChar]](), environ)
    while let text = unsafe entry.pointee {
      unsafe result.append(Array(UnsafeBufferPointer(start: text, count: strlen(text) + 1)))
      unsafe entry += 1
    }
    return result
  }

  /// Sets a variable for this process and its children.
  public static func set(_ name: String, _ value: String) { unsafe setenv(name, value, 1) }
}

/// What the system knows about a process.
public enum ProcessStatus {
  /// The number of this one.
  public static var own: Int32 { getpid() }

  /// The number of the user that it works for.
  public static var user: UInt32 { geteuid() }

  /// Ends this one.
  public static func exit(_ status: Int32) -> Never { CLibrary.exit(status) }

  /// Ends a process at once, which can't help it.
  public static func kill(_ pid: Int32) { _ = CLibrary.kill(pid, SIGKILL) }

  /// Resident memory in bytes; nil where the system has no `/proc`.
  public static func residentBytes(_ pid: Int32) -> Int? {
    guard let line = try? TextFile.read("/proc/\(pid)/statm") else { return nil }
    let fields = String(decoding: line, as: UTF8.self).split(separator: " ")
    guard fields.count > 1, let pages = Int(fields[1]) else { return nil }
    return pages * Int(getpagesize())
  }

  /// Time that processors have worked for it so far, in nanoseconds, as exactly as the system counts (10 ms on Linux); nil where
  /// it has no `/proc`.
  public static func processorNanoseconds(_ pid: Int32) -> Int64? {
    processorNanoseconds(file: "/proc/\(pid)/stat")
  }

  /// The same for each of its threads by their numbers, the first of which is the process's. Threads that have ended are in the
  /// process's time and not here.
  public static func threadNanoseconds(_ pid: Int32) -> [Int32: Int64] {
    var result: [Int32: Int64] = [:]
    for thread in FolderNames.read("/proc/\(pid)/task").compactMap({ Int32($0) }) {
      result[thread] = processorNanoseconds(file: "/proc/\(pid)/task/\(thread)/stat")
    }
    return result
  }

  /// Cores that the system has switched on.
  public static var processors: Int { max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }

  private static func processorNanoseconds(file path: String) -> Int64? {
    guard let line = try? TextFile.read(path) else { return nil }
    let text = String(decoding: line, as: UTF8.self)
    // Behind the program's name, which may have blanks in it, comes the state; then user and system time as the 12th and 13th.
    let fields = text[(text.lastIndex(of: ")") ?? text.startIndex)...].split(separator: " ")
    guard fields.count > 13, let user = Int64(fields[12]), let system = Int64(fields[13]) else { return nil }
    return (user + system) * (1_000_000_000 / Int64(max(1, sysconf(Int32(_SC_CLK_TCK)))))
  }
}

/// What one process tells another.
public enum Signal: Sendable {
  case interrupt, terminate, hangUp
  /// A child of this process has ended.
  case child

  public var number: Int32 {
    switch self {
    case .interrupt: SIGINT
    case .terminate: SIGTERM
    case .hangUp: SIGHUP
    case .child: SIGCHLD
    }
  }
}

/// Which signals wait instead of arriving, or never do.
public enum SignalMask {
  /// What the system raises beside the error of a write: for a peer that is gone (EPIPE), and at a limit on the size of files
  /// (EFBIG). By default either ends the process.
  static let ofWriting = [SIGPIPE, SIGXFSZ]

  /// Lets every signal arrive. A process inherits the mask of whoever started it, and some starters (Foundation's
  /// `Process` among them) block nearly everything while they do.
  public static func clear() {
    var none = set([])
    unsafe pthread_sigmask(SIG_SETMASK, &none, nil)
  }

  /// Lets this thread, and those that it starts, hear of a write that failed by its error alone. Other threads of the process
  /// keep what they have.
  public static func blockSignalsOfWriting() {
    var writing = set(ofWriting)
    unsafe pthread_sigmask(SIG_BLOCK, &writing, nil)
  }

  static func set(_ numbers: [Int32]) -> sigset_t {
    var set = sigset_t()
    unsafe sigemptyset(&set)
    for number in numbers { unsafe sigaddset(&set, number) }
    return set
  }

  /// The same for the whole process, which is the program's to decide: a library blocks them on its own threads.
  public static func ignoreSignalsOfWriting() {
    for number in ofWriting { signal(number, SIG_IGN) }
  }
}

/// The descriptors 0, 1 and 2.
public enum StandardDescriptors {
  public static let output = STDOUT_FILENO
  public static let error = STDERR_FILENO

  /// Whether somebody sees at once what is written there.
  public static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

  /// Opens nothing in the place of those that this process was started without: the next file or socket would get their
  /// numbers, and what is meant for people would be written into it.
  public static func fill() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
      // The lowest free number, which is this one.
      _ = DescriptorCalls.open("/dev/null", O_RDWR, isInherited: true)
    }
  }
}

/// A program that shares this one's input and output.
public struct Subprocess {
  public let pid: Int32

  /// Starts `words`, looking for the program in PATH.
  public init(_ words: [String]) throws {
    var spawn = Spawn()
    pid = try spawn.start(words, operation: "run")
  }

  /// How it ended, as a shell tells it: its exit status, or 128 and the signal; nil while it runs.
  public func exitStatus() -> Int32? { Spawn.exitStatus(of: pid) }

  public func send(_ signal: Signal) { kill(pid, signal.number) }
}

/// The terminal that this process was started from, if it was.
public enum Terminal {
  /// Whether this process belongs to the group that the terminal's signals go to. Asks the terminal itself: standard input
  /// may be a pipe.
  public static var isInForeground: Bool {
    let terminal = DescriptorCalls.open("/dev/tty", O_RDONLY | O_NOCTTY)
    guard terminal >= 0 else { return false }
    defer { close(terminal) }
    return tcgetpgrp(terminal) == getpgrp()
  }
}
