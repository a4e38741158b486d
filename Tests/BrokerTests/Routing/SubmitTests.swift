import PushModel
import Testing

import Broker

@Suite("Taking notifications")
struct SubmitTests {
  let lab = Lab()

  @Test("a token that nobody was given is bad", arguments: Interface.allCases)
  func unknownToken(_ interface: Interface) throws {
    let topic = try lab.topic()
    let token = [UInt8](repeating: 7, count: 32)
    let result = lab.submission(to: token, "{}", topic: topic, interface: interface) {
      lab.broker.routing.submit($0, now: lab.now)
    }
    #expect(result.rejection == .badDeviceToken)
    let record = try #require(lab.broker.journal[result.id])
    #expect(record.state == .rejected)
    #expect(record.registration == nil)
    #expect(Array(record.presentedToken) == token)
    #expect(record.payload.text == "{}")
  }

  @Test("a token of another length is well formed but never ours", arguments: [0, 1, 31, 33, 100])
  func otherLength(_ count: Int) throws {
    let row = try lab.row()
    let token = Array(
      (lab.broker.registry[row].token.bytes + [UInt8](repeating: 0, count: 68)).prefix(count))
    let result = lab.submission(to: token, "{}", topic: 0) { lab.broker.routing.submit($0, now: lab.now) }
    #expect(result.rejection == .badDeviceToken)
  }

  @Test("a token of the other environment is bad", arguments: Interface.allCases)
  func otherEnvironment(_ interface: Interface) throws {
    let result = lab.submit(try lab.row(), "{}", interface: interface, environment: .production)
    #expect(result.rejection == .badDeviceToken)
  }

  @Test(
    "a token of another app is told apart over HTTP only",
    arguments: [
      (Interface.gateway, Rejection.badDeviceToken), (.provider, .deviceTokenNotForTopic),
      (.console, .deviceTokenNotForTopic),
    ])
  func otherTopic(_ interface: Interface, _ expected: Rejection) throws {
    let row = try lab.row()
    #expect(lab.submit(row, "{}", interface: interface, topic: try lab.topic("a.two")).rejection == expected)
    #expect(lab.submit(row, "{}", interface: interface, topic: .some(nil)).rejection == expected)
    #expect(lab.kept(row) == nil)
    #expect(lab.broker.counters.rejected == 2)
  }

  @Test("a gone token is 410 with its time over HTTP, and silently dropped on the gateway")
  func gone() throws {
    let row = try lab.row()
    lab.broker.feedback.reportGone(row, now: lab.now)
    let since = lab.now
    lab.pass(seconds: 100)
    let http = lab.submit(row, "{}", interface: .provider)
    #expect(http.rejection == .unregistered)
    #expect(http.goneAt == since)
    // 410 comes before the topic (`Documentation/provider-api.md#order-of-checks` step 6).
    let other = lab.submit(row, "{}", interface: .provider, topic: try lab.topic("a.two"))
    #expect(other.rejection == .unregistered)
    #expect(other.goneAt == since)
    let legacy = lab.submit(row, "{}")
    #expect(legacy.rejection == nil)
    #expect(lab.state(legacy.id) == .discarded)
    #expect(lab.broker.journal[legacy.id]?.endedAt == lab.now && lab.broker.counters.discarded == 1)
    #expect(lab.kept(row) == nil)
  }

  @Test("410 begins when the grace is over", arguments: [(59, nil), (60, Rejection.unregistered)])
  func goneGrace(_ seconds: Int, _ expected: Rejection?) throws {
    var options = BrokerOptions()
    options.goneGraceSeconds = 60
    let lab = Lab(options: options)
    let row = try lab.row()
    lab.broker.feedback.reportGone(row, now: lab.now)
    lab.pass(seconds: Int64(seconds))
    #expect(lab.submit(row, "{}", interface: .provider).rejection == expected)
    #expect(lab.kept(row) == nil)
  }

  @Test("a token is too old for HTTP at the end of its lifetime, and for the gateway never")
  func lifetime() throws {
    var options = BrokerOptions()
    options.tokenLifetimeSeconds = 60
    let lab = Lab(options: options)
    let row = try lab.row()
    let end = lab.now.adding(nanoseconds: 60_000_000_000)
    lab.pass(seconds: 59)
    #expect(lab.submit(row, "{}", interface: .provider).rejection == nil)
    lab.pass(seconds: 1)
    let late = lab.submit(row, "{}", interface: .provider)
    #expect(late.rejection == .expiredToken)
    #expect(late.goneAt == end)
    #expect(lab.submit(row, "{}").rejection == nil)
  }

  @Test("what the checks found counts only while the token is still there", arguments: [0, 1, 7, Int32.max])
  func staleRow(_ number: Int32) throws {
    let (row, other) = (try lab.row(), try lab.row("phone", "a.two"))
    #expect(row.number == 0 && other.number == 1)
    let token = lab.broker.registry[row].token.bytes
    let id = lab.submission(to: token, "{}", topic: 0) { submission in
      var submission = submission
      submission.plain.registration = RegistrationID(number: number)
      return lab.broker.routing.submit(submission, now: lab.now).id
    }
    #expect(lab.broker.journal[id]?.registration == row)
    #expect(lab.kept(row) != nil && lab.kept(other) == nil)
  }

  @Test("what was refused before its token was looked up is remembered with its row")
  func recordRejection() throws {
    let row = try lab.row()
    let token = lab.broker.registry[row].token.bytes
    let id = lab.submission(to: token, "too long", topic: 0) {
      lab.broker.routing.recordRejection($0, .payloadTooLarge, now: lab.now)
    }
    let record = try #require(lab.broker.journal[id])
    #expect(record.rejection == .payloadTooLarge)
    #expect(record.registration == row)
    #expect(record.state == .rejected)
    #expect(record.endedAt == lab.now)
    #expect(lab.kept(row) == nil)
  }

  @Test("everything that a provider said is remembered")
  func remembered() throws {
    let row = try lab.row()
    let token = lab.broker.registry[row].token.bytes
    let frame = [1, 2, 3] + token + Array("payload".utf8) + [9]
    let detail = NotificationDetail(explanation: "because")
    let id = frame.withUnsafeBytes { frame in
      var submission = Submission(
        interface: .gateway, topic: 0, environment: .sandbox,
        token: frame.span.extracting(3..<35),
        payload: frame.span.extracting(35..<42))
      submission.plain.frame = frame.span
      submission.plain.command = 2
      submission.plain.identifier = 0xdead_beef
      submission.plain.priority = .conserving
      submission.plain.pushType = .background
      submission.plain.expiration = 1_800_000_000
      submission.detail = detail
      return lab.broker.routing.submit(submission, now: lab.now).id
    }
    let record = try #require(lab.broker.journal[id])
    #expect(record.id == id)
    #expect(Array(record.raw) == frame)
    #expect(Array(record.presentedToken) == token)
    #expect(record.payload.text == "payload")
    #expect((record.command, record.identifier) == (2, 0xdead_beef))
    #expect((record.priority, record.pushType) == (.conserving, .background))
    #expect(record.expiration == 1_800_000_000)
    #expect(record.receivedAt == lab.now)
    #expect(record.storedAt == lab.now)
    #expect(record.endedAt == .never)
    #expect(lab.broker.journal.detail(id) === detail)
    let kept = try #require(lab.broker.deliveries.stored(row))
    #expect((kept.head.priority, kept.head.pushType) == (.conserving, .background))
  }

  @Test("the counters add up")
  func counters() throws {
    let row = try lab.row()
    _ = lab.submit(row, "rejected", environment: .production)
    lab.push(row, "replaced")
    lab.push(row, "kept")
    lab.push(row, "once", expiration: 0)
    let phone = try lab.connect(enabling: [Lab.app])
    lab.acknowledge(phone, 0)
    let counters = lab.broker.counters
    #expect((counters.received, counters.accepted, counters.rejected) == (4, 3, 1))
    #expect((counters.stored, counters.replaced, counters.discarded) == (2, 1, 1))
    #expect((counters.sent, counters.delivered, counters.expired) == (1, 1, 0))
  }
}
