/// What of a processor core somebody used, in percent of one core.
package struct ProcessorShare: Equatable, Sendable {
  /// By all threads together, so that it may be more than 100.
  package var total: Double
  /// By the thread that worked most.
  package var busiest: Double

  package init(total: Double, busiest: Double) { (self.total, self.busiest) = (total, busiest) }

  /// From the share at which a thread counts as having no time left; the system counts in steps of 10 ms.
  static let exhausted = 95.0

  var isExhausted: Bool { busiest >= Self.exhausted }
}

/// How busy both sides of a load were while it ran.
package struct BenchmarkLoad: Equatable, Sendable {
  package var server: ProcessorShare
  package var generator: ProcessorShare
  /// Cores of the machine.
  package var processors: Int

  package init(server: ProcessorShare, generator: ProcessorShare, processors: Int) {
    (self.server, self.generator, self.processors) = (server, generator, processors)
  }

  /// Who would have to be faster for the figure to be better (`Documentation/speed.md#columns`).
  package enum Bottleneck: String, Sendable {
    /// A thread of that side had no time left.
    case server, generator, both
    /// No thread had, but all cores together were busy.
    case machine
    /// Both waited: for each other, for a disk, or for whoever else uses the machine.
    case neither
  }

  package var bottleneck: Bottleneck {
    switch (server.isExhausted, generator.isExhausted) {
    case (true, true): .both
    case (true, false): .server
    case (false, true): .generator
    case (false, false):
      server.total + generator.total >= ProcessorShare.exhausted * Double(processors) ? .machine : .neither
    }
  }
}
