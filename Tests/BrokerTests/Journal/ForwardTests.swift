import Basics
import PushModel
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

  @Test("the verdict of the node that has the token is counted, and one that it refuses ends with it")
  func relayed() throws {
    let (refused, taken) = (try begin(), try begin())
    lab.broker.history.endRelay(refused, .badDeviceToken, .gateway, now: lab.now)
    lab.broker.history.endRelay(taken, nil, .gateway, now: lab.now)
    let records = [refused, taken].compactMap { lab.broker.journal[$0] }
    #expect(records.map(\.state) == [.rejected, .stored])
    #expect(records.map(\.rejection) == [.badDeviceToken, nil])
    #expect(records.map(\.endedAt) == [lab.now, .never])
    #expect((lab.broker.counters.rejected, lab.broker.counters.accepted) == (1, 1))
    #expect(lab.broker.meter.outcomes(.gateway).map(\.outcome) == [.accepted, .rejected(.badDeviceToken)])
    #expect(lab.broker.meter.outcomes(.gateway).map(\.count) == [1, 1])
  }

  @Test("what that node says of its way is remembered, and what happens there is told to the node that asked")
  func steps() throws {
    let (owner, id) = (Lab(), try begin())
    owner.broker.history.countIds(from: 1 << 40)
    owner.broker.history.onStepElsewhere { [lab] in lab.broker.history.noteElsewhere($0, $1, at: $2) }
    let row = try owner.row()
    let submitted = owner.submission(
      to: owner.broker.registry[row].token.bytes, "{}", topic: try owner.topic()
    ) { owner.broker.routing.submitRelayed($0.plain, id: id, now: owner.now) }
    #expect(submitted.rejection == nil && lab.state(id) == .stored)
    owner.pass(seconds: 1)
    let phone = try owner.connect(enabling: [Lab.app])
    #expect(lab.state(id) == .sent && lab.broker.journal[id]?.sentAt == owner.now)
    owner.pass(seconds: 1)
    owner.acknowledge(phone, 0)
    #expect(lab.state(id) == .delivered && lab.broker.journal[id]?.endedAt == owner.now)
    #expect((lab.broker.counters.sent, lab.broker.counters.delivered) == (1, 1))
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
