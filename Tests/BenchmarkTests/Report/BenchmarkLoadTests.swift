import Basics
import Benchmark
import Platform
import Testing

@Suite("What limits a load")
struct BenchmarkLoadTests {
  /// Total and busiest thread of both sides, on two cores.
  private static func bottleneck(_ server: (Double, Double), _ generator: (Double, Double))
    -> BenchmarkLoad.Bottleneck
  {
    BenchmarkLoad(
      server: ProcessorShare(total: server.0, busiest: server.1),
      generator: ProcessorShare(total: generator.0, busiest: generator.1), processors: 2
    ).bottleneck
  }

  @Test("a side with a thread at 95 % or more of a core is at its limit")
  func sides() {
    #expect(Self.bottleneck((99, 99), (60, 60)) == .server)
    #expect(Self.bottleneck((95, 95), (60, 60)) == .server)
    #expect(Self.bottleneck((60, 60), (101, 100)) == .generator)
    #expect(Self.bottleneck((97, 97), (96, 96)) == .both)
    #expect(Self.bottleneck((94.9, 94.9), (60, 60)) == .neither)
  }

  @Test("two threads that share 120 % leave the side time, unless all cores are busy")
  func threads() {
    #expect(Self.bottleneck((120, 70), (40, 40)) == .neither)
    #expect(Self.bottleneck((120, 70), (70, 70)) == .machine)
    #expect(Self.bottleneck((120, 70), (69.9, 69.9)) == .neither)
  }

  @Test("a share is of what came since the load began, in the time that it took")
  func share() {
    let before = ProcessorSpent(total: 1000, threads: [7: 600, 8: 400])
    let after = ProcessorSpent(total: 1750, threads: [7: 1100, 8: 400, 9: 250])
    // 750 of 1000 ns in all, 500 of them by thread 7.
    #expect(after.share(since: before, of: 1000) == ProcessorShare(total: 75, busiest: 50))
  }

  @Test("a thread that has ended counts with what nobody else has done")
  func ended() {
    let before = ProcessorSpent(total: 100, threads: [7: 100])
    let after = ProcessorSpent(total: 1000, threads: [7: 200])
    #expect(after.share(since: before, of: 1000) == ProcessorShare(total: 90, busiest: 80))
  }

  @Test("a process is parted into one thread and the others")
  func parts() {
    let spent = ProcessorSpent(total: 1000, threads: [7: 600, 8: 300])
    #expect(spent.of(7, isWanted: true) == ProcessorSpent(total: 600, threads: [7: 600]))
    #expect(spent.of(7, isWanted: false) == ProcessorSpent(total: 400, threads: [8: 300]))
  }

  #if os(Linux)
    @Test("a thread that works without a pause is seen, and a process that does nothing")
    func measured() throws {
      let meter = LoadMeter(server: .thisProcess, generator: .processes([1]))
      #expect(meter.load == nil)
      let began = SystemClock.now()
      // However little of the machine others leave: it is over when this thread has worked for so long.
      meter.measure {
        let end = SystemClock.processorNanoseconds() + 300_000_000
        while SystemClock.processorNanoseconds() < end {}
      }
      let time = SystemClock.now().nanoseconds(since: began)
      let load = try #require(meter.load)
      // The system counts in steps of 10 ms, at both ends.
      #expect(
        load.server.busiest >= Double(280_000_000) / Double(time) * 100 && load.server.busiest < 110,
        "\(load)")
      #expect(load.server.total >= load.server.busiest && load.generator.total < 10, "\(load)")
    }
  #endif
}
