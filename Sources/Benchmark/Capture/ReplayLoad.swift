import Emulator
import Platform
import PushModel

/// A capture, and this very program that replays it as fast as it can.
struct ReplayLoad {
  private let site: BenchmarkSite
  private let capture: String

  /// Records so many pushes at a server of its own.
  init(_ site: BenchmarkSite, _ store: TokenStore, pushes: Int) throws {
    self.site = site
    capture = "\(site.folder)/replayed.jsonl"
    let recorder = try ServerProcess(site: site, data: store.data, extra: ["--capture", capture])
    defer { recorder.stop() }
    _ = try FrameLoad.run(
      site, to: recorder.address("gateway"), tokens: store.tokens, count: pushes,
      meter: LoadMeter(server: .process(recorder.child)))
  }

  /// Pushes a second, and the largest resident memory of `replay` in bytes.
  func run(at server: ServerProcess) throws -> (perSecond: Double, memory: Int, load: BenchmarkLoad?) {
    readOnce()
    let child = try ChildProcess(
      ChildProcess.ownPath,
      ["replay", capture, "--speed", "max", "--json", "--ports-file", server.portsFile])
    let meter = LoadMeter(server: .process(server.child), generator: .process(child))
    let last = meter.measure {
      var last = ""
      while let line = child.nextLine() { last = line }
      return last
    }
    let memory = child.awaitEnd()
    guard let report = JSONReader.read(Array(last.utf8)), let pushes = Self.number(report.member("pushes")),
      let seconds = Self.number(report.member("seconds")), Self.number(report.member("different")) == 0
    else { throw EmulatorError(.failed, "replay did not come out the same: \(last)") }
    return (pushes / max(seconds, 1e-9), memory, meter.load)
  }

  /// Has the system hold the capture in memory: it was written past the cache, and the disk is not what is measured.
  private func readOnce() {
    let descriptor = open(capture, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    var piece = [UInt8](repeating: 0, count: 1 << 20)
    while read(descriptor, &piece, piece.count) > 0 {}
  }

  private static func number(_ value: JSONValue?) -> Double? {
    switch value {
    case .integer(let number)?: Double(number)
    case .number(let number)?: number
    default: nil
    }
  }
}
