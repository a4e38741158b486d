/// A program that shares this one's input and output.
public struct Subprocess {
  public let pid: pid_t

  /// Starts `words`, looking for the program in PATH.
  public init(_ words: [String]) throws {
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    #if canImport(Darwin)
      var attributes: Attributes
    #else
      var attributes = Attributes()
    #endif
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    Self.restoreSignals(&attributes)
    var child = pid_t()
    let status = posix_spawnp(&child, words.first ?? "", nil, &attributes, &arguments, environ)
    guard status == 0 else {
      throw SocketError(
        operation: "run", address: words.first ?? "", sentence: SocketCalls.sentence(status), code: status)
    }
    pid = child
  }

  #if canImport(Darwin)
    private typealias Attributes = posix_spawnattr_t?
  #else
    private typealias Attributes = posix_spawnattr_t
  #endif

  /// What this process ignores is its own affair: with SIGPIPE ignored, `yes | head -1` would complain.
  private static func restoreSignals(_ attributes: inout Attributes) {
    var ignored = sigset_t()
    sigemptyset(&ignored)
    sigaddset(&ignored, SIGPIPE)
    posix_spawnattr_setsigdefault(&attributes, &ignored)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
  }

  /// How it ended, as a shell tells it: its exit status, or 128 and the signal; nil while it runs.
  public func exitStatus() -> Int32? {
    var status: Int32 = 0
    guard waitpid(pid, &status, WNOHANG) == pid else { return nil }
    let signal = status & 0x7f
    return signal == 0 ? (status >> 8) & 0xff : 128 + signal
  }

  public func send(signal: Int32) { kill(pid, signal) }
}
