import Platform

/// What a load cost the processes that worked for it.
struct ProcessorTime {
  /// Seconds of processors for one push: of the emulator's processes, and of the NATS server's.
  private(set) var ofNodes = 0.0
  private(set) var ofNATS = 0.0

  /// Pushes for each second of processors that the emulator's processes took, or with `nats` these and the NATS server's.
  func rate(withNATS: Bool = false) -> Double {
    1 / max(ofNodes + (withNATS ? ofNATS : 0), .leastNormalMagnitude)
  }

  /// How long what comes after the last answer (the other node reads the log) is waited for, in microseconds.
  private static let settling: UInt32 = 500_000

  /// Runs a load, which answers how many pushes it had.
  static func measure(_ nodes: [ServerProcess], _ nats: NATSServerProcess? = nil, _ load: () throws -> Int)
    rethrows
    -> ProcessorTime
  {
    let before = (spent(nodes.map(\.child)), spent([nats?.child].compactMap { $0 }))
    let pushes = Double(max(1, try load()))
    usleep(settling)
    let after = (spent(nodes.map(\.child)), spent([nats?.child].compactMap { $0 }))
    return ProcessorTime(
      ofNodes: Double(after.0 - before.0) / 1e9 / pushes,
      ofNATS: Double(after.1 - before.1) / 1e9 / pushes)
  }

  private static func spent(_ processes: [ChildProcess]) -> Int64 {
    Worker.processes(processes.map(\.pid)).spent()?.total ?? 0
  }
}
