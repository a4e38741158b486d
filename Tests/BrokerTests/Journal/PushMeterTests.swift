import PushModel
import Testing

import Broker

@Suite("Counts and durations of pushes")
struct PushMeterTests {
  private let lab = Lab()
  private var meter: PushMeter { lab.broker.meter }

  private func buckets(_ histogram: LatencyHistogram) -> [Int: UInt64] {
    let all = (0...LatencyHistogram.boundCount).map { ($0, histogram.count($0)) }
    return Dictionary(uniqueKeysWithValues: all.filter { $0.1 > 0 })
  }

  @Test(
    "a duration falls into the first bucket that reaches as far",
    arguments: [
      (Int64.min, 0), (0, 0), (1, 0), (65_536, 0), (65_537, 1), (131_072, 1), (131_073, 2), (1_000_000, 4),
      (1_048_576, 4), (1_000_000_000, 14), (137_438_953_472, 21), (137_438_953_473, 22), (.max, 22),
    ])
  func bucket(_ nanoseconds: Int64, _ bucket: Int) {
    let histogram = LatencyHistogram()
    histogram.observe(nanoseconds)
    #expect(buckets(histogram) == [bucket: 1])
    #expect(histogram.sum == UInt64(max(1, nanoseconds)))
    if bucket < LatencyHistogram.boundCount {
      #expect(LatencyHistogram.bound(bucket) >= nanoseconds)
      #expect(bucket == 0 || LatencyHistogram.bound(bucket - 1) < nanoseconds)
    }
  }

  @Test("a device that is there gets it at once, and its acknowledgement takes as long as it takes")
  func direct() throws {
    let row = try lab.row()
    let phone = try lab.connect(enabling: [Lab.app])
    meter.instant = 1_000_000_000
    lab.push(row, "{}")
    // The emulator's clock is not asked: it may stand still.
    meter.instant += 3_000_000
    lab.acknowledge(phone, 0)
    #expect(buckets(meter.sent(.direct)) == [0: 1])
    #expect(buckets(meter.acknowledged(.direct)) == [6: 1] && meter.acknowledged(.direct).sum == 3_000_000)
    #expect(buckets(meter.sent(.kept)).isEmpty && buckets(meter.sent(.forwarded)).isEmpty)
  }

  @Test("what waited for its device is counted apart")
  func kept() throws {
    let row = try lab.row()
    lab.push(row, "{}")
    meter.instant += 60_000_000_000
    let phone = try lab.connect(enabling: [Lab.app])
    meter.instant += 1_000_000
    lab.acknowledge(phone, 0, status: 0)
    #expect(meter.sent(.kept).sum == 60_000_000_000 && meter.acknowledged(.kept).sum == 60_001_000_000)
    #expect(buckets(meter.sent(.direct)).isEmpty && buckets(meter.acknowledged(.direct)).isEmpty)
  }

  @Test("a refused acknowledgement, and one of what the history has lost, is no duration")
  func none() throws {
    var options = BrokerOptions()
    options.history = 1
    let lab = Lab(options: options)
    let (row, other) = (try lab.row(), try lab.row("tablet"))
    let phone = try lab.connect(enabling: [Lab.app])
    lab.push(row, "{}")
    lab.push(other, "{}")
    lab.acknowledge(phone, 0)
    lab.push(row, "{}")
    lab.acknowledge(phone, 1, status: 1)
    #expect(buckets(lab.broker.meter.acknowledged(.direct)).isEmpty)
  }

  @Test("each outcome is counted by its interface")
  func outcomes() throws {
    let row = try lab.row()
    for interface in Interface.allCases { lab.submit(row, "{}", interface: interface) }
    lab.submit(row, "{}", interface: .provider, environment: .production)
    lab.submit(row, "{}", interface: .provider, topic: try lab.topic("com.example.other"))
    lab.submission(to: [1], "{}", topic: try lab.topic()) { submission in
      var submission = submission
      submission.detail = NotificationDetail(
        explanation: "", fault: InjectedFault(name: "f", effect: nil, isAnswered: false))
      _ = lab.broker.routing.recordRejection(submission, .internalServerError, now: lab.now)
      submission.detail = nil
      _ = lab.broker.routing.recordRejection(submission, .internalServerError, now: lab.now)
    }
    func counts(_ interface: Interface) -> [PushMeter.Outcome: UInt64] {
      Dictionary(uniqueKeysWithValues: meter.outcomes(interface).map { ($0.outcome, $0.count) })
    }
    #expect(counts(.console) == [.accepted: 1])
    #expect(
      counts(.provider) == [
        .accepted: 1, .rejected(.badDeviceToken): 1, .rejected(.deviceTokenNotForTopic): 1,
      ])
    #expect(counts(.gateway) == [.accepted: 1, .rejected(.internalServerError): 1, .unanswered: 1])
    let counters = lab.broker.counters
    #expect(counters.accepted == 3 && counters.rejected == 4)
  }

  @Test("a forwarded push counts when the other service has decided")
  func forwarded() throws {
    let topic = try lab.topic()
    let ids = lab.submission(to: [7], "{}", topic: topic) { submission in
      (0..<2).map { _ in lab.broker.history.beginElsewhere(submission.plain, submission.detail, now: lab.now)
      }
    }
    #expect(meter.outcomes(.gateway).map(\.count) == [0])
    meter.instant += 1_000_000
    for id in ids { lab.broker.history.noteForwarded(id, now: lab.now) }
    meter.instant += 1_000_000
    lab.broker.history.endForward(ids[0], .delivered, explanation: "", now: lab.now)
    lab.broker.history.endForward(ids[1], .rejected(.badDeviceToken), explanation: "", now: lab.now)
    #expect(meter.outcomes(.gateway).map(\.count) == [1, 1])
    #expect(meter.sent(.forwarded).sum == 2_000_000 && meter.acknowledged(.forwarded).sum == 2_000_000)
  }
}
