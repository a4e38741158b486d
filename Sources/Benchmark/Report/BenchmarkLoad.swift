/// What of a processor core somebody used, in percent of one core.
public struct ProcessorShare: Equatable, Sendable {
  /// By all threads together, so that it may be more than 100.
  public var total: Double
  /// By the thread that worked most.
  public var busiest: Double

  public init(total: Double, busiest: Double) { (self.total, self.busiest) = (total, busiest) }

  /// From the share at which a thread counts as having no time left; the system counts in steps of 10 ms.
  static let exhausted = 95.0

  var isExhausted: Bool { busiest >= Self.exhausted }
}

/// How busy both sides of a load were while it ran.
public struct BenchmarkLoad: Equatable, Sendable {
  public var server: ProcessorShare
  public var generator: ProcessorShare
  /// Cores of the machine.
  public var processors: Int

  public init(server: ProcessorShare, generator: ProcessorShare, processors: Int) {
    (self.server, self.generator, self.processors) = (server, generator, processors)
  }

  /// Who would have to be faster for the figure to be better (`Documentation/speed.md#columns`).
  public enum Bottleneck: String, Sendable {
    /// A thread of that side had no time left.
    case server, generator, both
    /// No thread had, but all cores together were busy.
    case machine
    /// Both waited: for each other, for a disk, or for whoever else uses the machine.
    case neither
  }

  public var bottleneck: Bottleneck {
    switch (server.isExhausted, generator.isExhausted) {
    case (true, true): .both
    case (true, false): .server
    case (false, true): .generator
    case (false, false):
      server.total + generator.total >= ProcessorShare.exhausted * Double(processors) ? .machine : .neither
    }
  }
}
