import Basics
import Broker
import Testing

import Cluster

@Suite struct LeaderGateTests {
  private let gate = LeaderGate(timeout: 5)

  private func at(_ time: Int64) -> Instant { Instant(nanoseconds: time) }

  @Test func doesNothingThatItsEdgeHasGivenUp() {
    #expect(gate.isAwaited(LinkStamp(heard: 100), at(104)))
    #expect(!gate.isAwaited(LinkStamp(heard: 100), at(105)))
    #expect(gate.isAwaited(LinkStamp(heard: 100, age: 3), at(101)))
    #expect(!gate.isAwaited(LinkStamp(heard: 100, age: 4), at(101)))
    #expect(!gate.isAwaited(LinkStamp(heard: 101), at(100)))
    #expect(!gate.isAwaited(LinkStamp(heard: 100, age: .max), at(101)))
  }

  @Test func whatComesBehindARefusedPushOfItsZoneIsRefusedToo() {
    var gate = gate
    func admits(_ attempt: UInt32, in zone: UInt16 = 1, isMine: Bool = true, at time: Int64 = 101) -> Bool {
      gate.admits(LinkStamp(heard: 100, attempt: attempt), in: zone, isMine: isMine, at(time))
    }
    #expect(admits(0))
    #expect(!admits(0, isMine: false))
    // The zone may be changed again, and what was said before the edge knew is out of order.
    #expect(!admits(0))
    #expect(admits(0, in: 2))
    #expect(admits(1))
    #expect(!admits(1, at: 105))
    #expect(!admits(1))
    #expect(admits(2))
  }

  @Test func aPushOfALinkThatHasEndedIsNotDone() {
    var gate = gate
    gate.hasEnded = true
    let isDone = gate.admits(LinkStamp(heard: 100), in: 1, isMine: true, at(101))
    #expect(!isDone)
  }

  @Test func whatWasSaidWhileItsOwnerSleptIsToBeSaidAgain() {
    var gate = gate
    gate.awakeSince = at(103)
    func admits(heard: UInt64, _ attempt: UInt32) -> Bool {
      gate.admits(LinkStamp(heard: heard, attempt: attempt), in: 1, isMine: true, at(104))
    }
    #expect(!admits(heard: 102, 0))
    // It comes behind one that was refused, by an edge that does not know that yet.
    #expect(!admits(heard: 103, 0))
    #expect(admits(heard: 103, 1))
  }

  @Test func aMessageIsMarkedWhenItGoesOut() throws {
    let stamp = LinkStamp(heard: 7, age: 8, attempt: 9)
    var message = LinkFrame.bytes(of: LinkCommand(number: 1, zone: 2, .feedbackRead([])))
    stamp.mark(&message)
    var decoder = LinkDecoder()
    var seen: [LinkStamp] = []
    try decoder.requests(in: message.span) {
      if case .command(let command) = $0 { seen.append(command.stamp) }
    }
    #expect(seen == [stamp])
  }
}
