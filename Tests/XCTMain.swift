import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Where the tests begin on Linux. All of them are Swift Testing's, which finds them by itself; with a main function of our own SwiftPM
/// does not look for XCTest's in the compiler's index, and none need be written (a tenth of the build).
@main
struct Main {
  static func main() async {
    blockBrokenPipes()
    await Testing.__swiftPMEntryPoint() as Never
  }

  /// Some tests turn a loop on their own thread, which the system gives them. A peer that has gone is an error of the write there, as it
  /// is for `serve` (`Emulator.start`); the signal would end all tests. Threads take this over from the one that starts them.
  private static func blockBrokenPipes() {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
  }
}
