import Platform

/// Reads the event stream as fast as it comes, as a dashboard does.
final class EventWatcher {
  private let child: ChildProcess

  /// Begins to read.
  init(_ console: SocketAddress) throws {
    child = try ChildProcess(
      "/usr/bin/env", ["curl", "-sN", "-o", "/dev/null", "http://\(console)/api/v1/events"])
  }

  func stop() { child.stop() }
}
