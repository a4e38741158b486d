import Basics
import Testing

import Broker

@Suite("The journal of forwarded pushes")
struct ForwardTests {
  private let lab = Lab()

  private func begin() throws -> UInt64 {
    let payload = Array(#"{"aps":{}}"#.utf8)
    let token = [UInt8](repeating: 7, count: 40)
    return try token.withUnsafeBytes { token in
      try payload.withUnsafeBytes { payload in
        var submission = Submission(
          interface: .gateway, topic: try lab.topic(), environment: .sandbox, token: token.span,
          payload: payload.span)
        submission.detail = NotificationDetail(upstream: "api:443")
        return lab.broker.history.beginElsewhere(submission.plain, submission.detail, now: lab.now)
      }
    }
  }

  @Test("a push waits, is sent, and gets the other side's verdict, though its token is unknown here")
  func journey() throws {
    let id = try begin()
    #expect(lab.broker.journal[id]?.state == .stored)
    lab.pass(seconds: 1)
    lab.broker.history.noteForwarded(id, now: lab.now)
    #expect(lab.broker.journal[id]?.state == .sent)
    #expect(lab.broker.journal[id]?.sentAt == lab.now)
    lab.pass(seconds: 1)
    lab.broker.history.endForward(id, .delivered, explanation: "200", now: lab.now)
    let record = try #require(lab.broker.journal[id])
    #expect(record.state == .delivered && record.endedAt == lab.now && record.rejection == nil)
    #expect(lab.broker.journal.detail(id)?.explanation == "200")
    #expect((lab.broker.counters.received, lab.broker.counters.accepted) == (1, 1))
  }

  @Test("each outcome has its state and is counted")
  func outcomes() throws {
    for outcome in [.rejected(.badDeviceToken), .expired, .discarded] as [ForwardOutcome] {
      lab.broker.history.endForward(try begin(), outcome, explanation: "", now: lab.now)
    }
    let records = (1...3).compactMap { lab.broker.journal[$0] }
    #expect(records.map(\.state) == [.rejected, .expired, .discarded])
    #expect(records.map(\.rejection) == [.badDeviceToken, nil, nil])
    let counters = lab.broker.counters
    #expect((counters.rejected, counters.accepted, counters.expired, counters.discarded) == (1, 2, 1, 1))
  }

  @Test("a push that has left the journal ends without a trace")
  func forgotten() throws {
    var options = BrokerOptions()
    options.history = 1
    let lab = Lab(options: options)
    let broker = lab.broker
    let submission = Submission(
      interface: .gateway, topic: nil, environment: .sandbox, token: .none, payload: .none)
    let id = broker.history.beginElsewhere(submission.plain, submission.detail, now: lab.now)
    _ = broker.history.beginElsewhere(submission.plain, submission.detail, now: lab.now)
    broker.history.noteForwarded(id, now: lab.now)
    broker.history.endForward(id, .delivered, explanation: "200", now: lab.now)
    #expect(broker.journal[id] == nil && broker.journal.detail(id) == nil)
    #expect(broker.journal[id + 1]?.state == .stored)
  }
}
