/// A program that shares this one's input and output.
public struct Subprocess {
  public let pid: pid_t

  /// Starts `words`, looking for the program in PATH.
  public init(_ words: [String]) throws {
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var child = pid_t()
    let status = SpawnAttributes().lend {
      posix_spawnp(&child, words.first ?? "", nil, $0, &arguments, environ)
    }
    guard status == 0 else {
      throw SocketError(
        operation: "run", address: words.first ?? "", sentence: SocketCalls.sentence(status), code: status)
    }
    pid = child
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
