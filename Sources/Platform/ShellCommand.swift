import Basics
import CLibrary

/// One run of a shell command that gets bytes on its standard input. It is started on the thread that makes descriptors, so that
/// it inherits none half made; then a thread that may wait sees it to its end, and `stop` ends it from any other.
///
///     let command = try ShellCommand("jq .udid >> seen", environment: [:])
///     let ending = command.run(body, within: 30_000_000_000)  // on another thread
///
/// It has a process group of its own: Ctrl-C in a terminal is not for it, and when its time is over all that it started goes
/// with it.
/// Unchecked: the pipes are its thread's from `run` on, which is called once; all else is constant.
public final class ShellCommand: @unchecked Sendable {
  /// Most bytes of its output that are kept; the rest is read and forgotten.
  public static let outputLimit = 4096
  /// How long it may take to end after SIGTERM, in nanoseconds; then SIGKILL.
  private static let grace: Int64 = 1_000_000_000
  /// How often it is looked at whether it has ended without closing its output, in milliseconds.
  private static let lookInterval: Int32 = 20
  /// Most bytes of its output that are read between two looks: far more than a hook says, and one that writes without end is read
  /// at 50 MiB/s, which leaves the machine to others, while the time and `stop` are looked at.
  private static let readLimit = 1 << 20

  /// How it ended.
  public struct Ending: Equatable, Sendable {
    /// As a shell tells it: its exit status, or 128 and the signal.
    public var status: Int32
    /// What it said on standard output and standard error, the beginning of it.
    public var output: [UInt8]
    /// Its time was over.
    public var isOverdue: Bool
  }

  private let child: pid_t
  private var toChild: PipeEnds
  private var fromChild: PipeEnds
  /// Rings when it is to be stopped.
  private let bell: NumberPipe

  /// Starts it: the text is for `/bin/sh`, `environment` comes on top of this process's own.
  public init(_ text: String, environment: [String: String] = [:]) throws(SocketError) {
    var input = try PipeEnds(for: "/bin/sh")
    var output = try PipeEnds(for: "/bin/sh")
    guard let bell = NumberPipe() else { throw SocketError.last("open a pipe for", "/bin/sh") }
    var spawn = Spawn(ownGroup: true)
    spawn.give(input.reader, as: STDIN_FILENO)
    spawn.give(output.writer, as: STDOUT_FILENO)
    spawn.give(output.writer, as: STDERR_FILENO)
    do { child = try spawn.start(["/bin/sh", "-c", text], variables: environment) } catch {
      bell.close()
      throw error
    }
    input.closeReader()
    output.closeWriter()
    for descriptor in [input.writer, output.reader] { SocketCalls.makeNonBlocking(descriptor) }
    toChild = input
    fromChild = output
    self.bell = bell
  }

  deinit { bell.close() }

  /// Ends it. From any thread.
  public func stop() { bell.send(0) }

  /// Tells it `input` and sees it to its end, which comes after so many nanoseconds at the latest. Once.
  public func run(_ input: [UInt8], within limit: Int64) -> Ending {
    var run = Run(child: child, rest: input[...], deadline: SystemClock.now().adding(nanoseconds: limit))
    return run.toTheEnd(input: &toChild, output: fromChild.reader, bell: bell.reader)
  }

  // MARK: Running

  /// A child at work.
  private struct Run {
    let child: pid_t
    /// What it has not been told yet.
    var rest: ArraySlice<UInt8>
    var deadline: Instant
    private var said: [UInt8] = []
    private var isHearing = true
    /// What was read since when, in bytes.
    private var heard = (bytes: 0, since: Instant.distantPast)
    /// That was enough: the rest waits for the next look.
    private var isLoud = false
    private var chunk = [UInt8](repeating: 0, count: 1 << 16)
    private var isOverdue = false
    private var isStopping = false
    /// All of its group was killed.
    private var isKilled = false

    init(child: pid_t, rest: ArraySlice<UInt8>, deadline: Instant) {
      (self.child, self.rest, self.deadline) = (child, rest, deadline)
    }

    mutating func toTheEnd(input: inout PipeEnds, output: Int32, bell: Int32) -> Ending {
      while true {
        if rest.isEmpty { input.closeWriter() }
        // Its group is left alone for ever once it was asked for its status, as its number may be another's then.
        if mayBeAsked, let status = Spawn.exitStatus(of: child) {
          hear(output)
          return Ending(status: status, output: said, isOverdue: isOverdue)
        }
        wait(input.writer, output, bell)
        if !isKilled, SystemClock.now() >= deadline { timeIsOver() }
      }
    }

    /// Of one that is stopped, what it started has the same grace as itself: until all have closed its output, or are killed.
    private var mayBeAsked: Bool { !isStopping || isKilled || !isHearing }

    /// Until there is something to do, or it is time to look whether the child is still there.
    private mutating func wait(_ input: Int32, _ output: Int32, _ bell: Int32) {
      var waiting = [
        pollfd(fd: input, events: Int16(POLLOUT), revents: 0),
        pollfd(fd: isHearing && !isLoud ? output : -1, events: Int16(POLLIN), revents: 0),
        pollfd(fd: isStopping ? -1 : bell, events: Int16(POLLIN), revents: 0),
      ]
      isLoud = false
      guard DescriptorCalls.poll(&waiting, within: ShellCommand.lookInterval) > 0 else { return }
      if waiting[0].revents != 0 { tell(input) }
      if waiting[1].revents != 0 { hear(output) }
      if waiting[2].revents != 0 { end() }
    }

    private mutating func tell(_ input: Int32) {
      let count = DescriptorCalls.write(input, rest.span)
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if errno != EAGAIN, errno != EINTR {
        // It does not want to know.
        rest = []
      }
    }

    /// Reads what there is, but no more than `readLimit` in the time of a look: there may be no end of it.
    private mutating func hear(_ output: Int32) {
      let now = SystemClock.now()
      if now >= heard.since.adding(nanoseconds: Int64(ShellCommand.lookInterval) * 1_000_000) {
        heard = (0, now)
      }
      while isHearing, heard.bytes < ShellCommand.readLimit {
        let count = DescriptorCalls.read(output, into: &chunk)
        if count > 0 {
          heard.bytes += count
          said += chunk.prefix(min(count, ShellCommand.outputLimit - said.count))
        } else if count == 0 {
          isHearing = false
        } else if errno != EINTR {
          return
        }
      }
      isLoud = isHearing
    }

    private mutating func timeIsOver() {
      if isStopping {
        isKilled = true
        kill(-child, SIGKILL)
      } else {
        isOverdue = true
        end()
      }
    }

    private mutating func end() {
      isStopping = true
      deadline = SystemClock.now().adding(nanoseconds: ShellCommand.grace)
      kill(-child, SIGTERM)
    }
  }
}
