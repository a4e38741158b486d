import Basics
import Broker
import Platform
import PushModel
import Testing

import Cluster

@Suite struct EdgeQueueTests {
  private let now = Instant(nanoseconds: 0)
  private let b = NodePeer(name: "b", address: SocketAddress(host: "127.0.0.1", port: 1))
  private let c = NodePeer(name: "c", address: SocketAddress(host: "127.0.0.1", port: 2))

  private func add(
    _ queue: inout EdgeQueue<String>, _ zone: UInt16, _ seat: ZoneSeat, _ text: String,
    at seconds: Int64 = 0
  ) -> EdgeQueue<String>.Admission {
    queue.add(zone: zone, size: 10, seat: seat, now: Instant(nanoseconds: seconds * 1_000_000_000)) { _ in
      text
    }
  }

  @Test func goesToTheOwnerAndIsSettledOnce() {
    var queue = EdgeQueue<String>(limit: 100)
    #expect(add(&queue, 1, .at(b), "one") == .send(b, number: 1))
    #expect(!queue.isClear(1) && queue.isClear(2))
    #expect(queue.settle(1, by: "c", isMine: true) == nil)
    #expect(queue.settle(1, by: "b", isMine: true) == "one")
    #expect(queue.settle(1, by: "b", isMine: true) == nil)
    #expect(queue.isClear(1) && queue.bytes == 0)
  }

  @Test func whatWasNotTakenGoesToTheNextOwnerInOrder() {
    var queue = EdgeQueue<String>(limit: 100)
    _ = add(&queue, 1, .at(b), "one")
    _ = add(&queue, 1, .at(b), "two")
    // The zone is said to be at c: nothing overtakes what is at b.
    #expect(add(&queue, 1, .at(c), "three") == .held)
    #expect(queue.settle(1, by: "b", isMine: false) == nil)
    #expect(queue.release(1, to: "c") == [])
    #expect(queue.settle(2, by: "b", isMine: false) == nil)
    #expect(queue.waitingZones == [1])
    #expect(queue.release(1, to: "c") == [1, 2, 3])
    #expect([1, 2, 3].map { queue.settle($0, by: "c", isMine: true) } == ["one", "two", "three"])
  }

  @Test func whatIsUnderWayMayBePutBackBeforeWhatIsHeldGoesOn() {
    var queue = EdgeQueue<String>(limit: 100)
    _ = add(&queue, 1, .at(b), "one")
    _ = add(&queue, 1, .at(b), "two")
    #expect(queue.settle(1, by: "b", isMine: false) == nil)
    #expect(queue.release(1, to: "b") == [] && queue[2]?.attempt == 0)
    #expect(queue.settle(2, by: "b", isMine: false) == nil)
    #expect(queue.release(1, to: "b") == [1, 2] && [1, 2].map { queue[$0]?.attempt } == [1, 1])
    #expect([1, 2].map { queue.settle($0, by: "b", isMine: true) } == ["one", "two"])
    // The leader that has refused the first attempt must not take it for new.
    #expect(add(&queue, 1, .at(b), "three") == .send(b, number: 3) && queue[3]?.attempt == 1)
  }

  /// With a cost that grows with what waits these are 10¹⁰ steps, which no machine takes in a minute.
  @Test(.timeLimit(.minutes(1))) func whatEachCostsDoesNotGrowWithWhatWaits() {
    let count: UInt64 = 100_000
    var queue = EdgeQueue<UInt64>(limit: .max)
    func hold() {
      for number in 1...count {
        _ = queue.add(zone: 1, size: 1, seat: .nowhere, now: now) { _ in number }
      }
    }
    // A failover: all are done here.
    hold()
    #expect((1...count).allSatisfy { queue.takeFirst(1) == $0 } && queue.isClear(1))
    // All are said, half of them is refused with as many behind them, and all others have gone, the newest first.
    hold()
    let said = queue.release(1, to: "b")
    hold()
    for number in said { _ = queue.settle(number, by: "b", isMine: !number.isMultiple(of: 2)) }
    #expect(queue.discard { $0 > 10 }.count == Int(count) / 2 - 5 + Int(count) - 10)
    #expect(queue.release(1, to: "c").count == 15)
  }

  @Test func whatWasThrownAwayIsNotSaidAgain() {
    var queue = EdgeQueue<String>(limit: 100)
    _ = add(&queue, 1, .at(b), "under way")
    _ = add(&queue, 1, .at(b), "kept")
    _ = add(&queue, 2, .nowhere, "held")
    _ = add(&queue, 2, .nowhere, "kept, too")
    #expect(queue.discard { !$0.hasPrefix("kept") } == ["held"])
    #expect(queue.settle(1, by: "b", isMine: false) == "under way")
    #expect(queue.settle(2, by: "b", isMine: false) == nil)
    #expect(queue.release(1, to: "c") == [2] && queue[2]?.attempt == 1)
    #expect(queue.release(2, to: "c") == [4])
    #expect([2, 4].map { queue.settle($0, by: "c", isMine: true) } == ["kept", "kept, too"])
    #expect(queue.isClear(1) && queue.isClear(2) && queue.bytes == 0)
  }

  @Test func whatWasThrownAwayGoesWithALinkThatNeverWas() {
    var queue = EdgeQueue<String>(limit: 100)
    _ = add(&queue, 1, .at(b), "one")
    _ = add(&queue, 1, .at(b), "two")
    #expect(queue.discard { $0 == "one" } == [])
    #expect(queue.lose("b", wasOpen: false) == ["one"])
    #expect(queue.release(1, to: "c") == [2])
  }

  /// Seed 546 of the simulation.
  @Test func nothingOvertakesWhatWillBeRefused() {
    var queue = EdgeQueue<String>(limit: 100)
    _ = add(&queue, 1, .at(b), "one")
    _ = add(&queue, 1, .at(b), "two", at: 5)
    #expect(queue.settle(1, by: "b", isMine: false) == nil)
    #expect(queue.takeOverdue(Instant(nanoseconds: 6_000_000_000), after: 5_000_000_000) == ["one"])
    // The leader refuses "two", as its edge has not heard of "one" before it was sent; it would take "three".
    #expect(add(&queue, 1, .at(b), "three", at: 6) == .held)
    #expect(queue.settle(2, by: "b", isMine: false) == nil)
    #expect(queue.release(1, to: "b") == [2, 3] && [2, 3].map { queue[$0]?.attempt } == [1, 1])
  }

  @Test func isTakenHereInOrderOnceNothingIsElsewhere() {
    var queue = EdgeQueue<String>(limit: 100)
    _ = add(&queue, 1, .at(b), "one")
    _ = add(&queue, 1, .here, "two")
    #expect(queue.takeFirst(1) == nil)
    _ = queue.settle(1, by: "b", isMine: false)
    #expect(queue.takeFirst(1) == "one" && queue.takeFirst(1) == "two" && queue.takeFirst(1) == nil)
    #expect(queue.isClear(1))
  }

  @Test func neverSendsAgainWhatMayHaveBeenDone() {
    var queue = EdgeQueue<String>(limit: 100)
    _ = add(&queue, 1, .at(b), "one")
    _ = add(&queue, 2, .at(b), "two")
    _ = add(&queue, 3, .at(c), "three")
    #expect(queue.lose("b", wasOpen: true) == ["one", "two"])
    #expect(queue.count == 1 && queue.waitingZones == [])
    // Nothing was said to c.
    #expect(queue.lose("c", wasOpen: false) == [])
    #expect(queue.waitingZones == [3] && queue.release(3, to: "d") == [3])
  }

  @Test func givesUpWhatWaitsTooLong() {
    var queue = EdgeQueue<String>(limit: 100)
    _ = add(&queue, 1, .nowhere, "held")
    _ = add(&queue, 2, .at(b), "under way", at: 1)
    _ = add(&queue, 2, .at(b), "young", at: 5)
    #expect(
      queue.takeOverdue(Instant(nanoseconds: 6_000_000_000), after: 5_000_000_000) == ["held", "under way"])
    #expect(queue.count == 1 && queue.isClear(1))
    // Its answer comes too late.
    #expect(queue.settle(2, by: "b", isMine: true) == nil)
  }

  @Test func takesNoMoreThanItHasRoomFor() {
    var queue = EdgeQueue<String>(limit: 15)
    #expect(add(&queue, 1, .nowhere, "one") == .held)
    #expect(add(&queue, 1, .nowhere, "two") == .held)
    #expect(add(&queue, 1, .nowhere, "three") == .full)
  }

  @Test func messagesAreReadAsTheyWereWritten() throws {
    var output: [UInt8] = []
    let token = [UInt8](repeating: 7, count: 32), payload = Array("{}".utf8)
    var push = PlainSubmission(
      interface: .provider, topic: nil, environment: .production, token: token.span, payload: payload.span)
    (push.expiration, push.priority, push.pushType) = (0, .low, .voip)
    push.saysPriority = false
    push.apnsID = APNSID(high: 1, low: 2)
    output = LinkFrame.introduction(ordinal: 9)
    // Two of one topic, one of another and one of none.
    for topic in ["com.example.app", "com.example.app", "com.example.other", ""] {
      output += LinkFrame.bytes(
        of: LinkPush(number: 4, id: 5, zone: 6, push: push, topic: Topic(topic)))
    }
    var decoder = LinkDecoder()
    var seen: [String] = []
    // A byte at a time: messages may be cut anywhere.
    for byte in output {
      let bytes = [byte]
      try decoder.requests(in: bytes.span) { request in
        switch request {
        case .introduction(let ordinal): seen.append("\(ordinal)")
        case .push(let told):
          let push = told.push
          seen.append(
            "\(told.number) \(told.id) \(told.zone) \(push.environment) \(push.expiration ?? 1) \(push.priority) \(push.saysPriority)"
          )
          seen.append(
            "\(Array(push.token) == token) \(Array(push.payload) == payload) \(told.topic?.name ?? "")")
          seen.append("\(push.apnsID == APNSID(high: 1, low: 2)) \(push.pushType == .voip)")
        case .command: seen.append("?")
        }
      }
    }
    let expected = ["com.example.app", "com.example.app", "com.example.other", ""].flatMap {
      ["4 5 6 production 0 low false", "true true \($0)", "true true"]
    }
    #expect(seen == ["9"] + expected)
  }

  @Test func thePushWithTheLargestPayloadIsRead() throws {
    // As the gateway's length field and `--payload-limit` allow.
    let token = [UInt8](repeating: 7, count: Limits.longestToken)
    let payload = [UInt8](repeating: 0x20, count: 65535)
    let push = PlainSubmission(
      interface: .gateway, topic: nil, environment: .production, token: token.span, payload: payload.span)
    let output = LinkFrame.bytes(
      of: LinkPush(number: 4, id: 5, zone: 6, push: push, topic: Topic(String(repeating: "a", count: 255))))
    var decoder = LinkDecoder()
    var sizes: [Int] = []
    try decoder.requests(in: output.span) {
      if case .push(let told) = $0 { sizes.append(told.push.payload.count) }
    }
    #expect(sizes == [65535])
  }

  @Test(
    arguments: [
      .verdict(LinkVerdict(number: 1, .accepted)), .verdict(LinkVerdict(number: 2, .notMine)),
      .verdict(LinkVerdict(number: 3, .rejected(.unregistered, goneAt: Timestamp(seconds: 5)))),
      .verdict(LinkVerdict(number: 3, .rejected(.badDeviceToken, goneAt: nil))),
      .step(LinkStep(id: 8, state: .delivered, at: Timestamp(seconds: 6))), .done(number: 9, .done),
      .done(number: 10, .noChannel), .done(number: 11, .notMine), .time(12),
    ] as [LinkFrame.Reply])
  func repliesAreReadAsTheyWereWritten(reply: LinkFrame.Reply) throws {
    var decoder = LinkDecoder()
    var read: [LinkFrame.Reply] = []
    let bytes = LinkFrame.bytes(of: reply)
    try decoder.replies(in: bytes.span) { read.append($0) }
    #expect(read == [reply])
  }

  @Test(arguments: [
    [0, 0, 0, 1, 77], [0, 1, 0x40, 1, 1], [0, 0, 0, 3, 3, 0, 0], [0, 0, 0, 10, 1, 0, 0, 0, 0, 0, 0, 0, 1, 9],
  ])
  func refusesWhatNoNodeSends(bytes: [UInt8]) {
    var decoder = LinkDecoder()
    #expect(throws: (any Error).self) { try decoder.requests(in: bytes.span) { _ in } }
  }
}
