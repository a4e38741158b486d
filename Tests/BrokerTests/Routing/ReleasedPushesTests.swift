import Basics
import PushModel
import Testing

import Broker

@Suite("What providers are told to send again")
struct ReleasedPushesTests {
  @Test("stays kept while its connection is open, and is gone once its provider has heard")
  func heard() {
    var released = ReleasedPushes()
    released.open(1)
    released.open(2)
    #expect(released.release([10, 11], on: 1).isEmpty && released.release([12], on: 1).isEmpty)
    #expect(released.release([20], on: 2).isEmpty)
    #expect(released.count == 4)
    #expect(released.close(1, hasHeard: true) == [10, 11, 12])
    #expect(released.count == 1)
  }

  @Test("stays kept for good if its provider went without having heard")
  func unheard() {
    var released = ReleasedPushes()
    released.open(1)
    _ = released.release([10], on: 1)
    #expect(released.close(1, hasHeard: false).isEmpty)
    #expect(released.count == 0)
    #expect(released.close(1, hasHeard: true).isEmpty, "it was closed before")
  }

  @Test("need not be kept where the connection is closed already")
  func closed() {
    var released = ReleasedPushes()
    #expect(released.release([10], on: 1) == [10])
    released.open(1)
    _ = released.close(1, hasHeard: true)
    #expect(released.release([11], on: 1) == [11] && released.count == 0)
  }

  /// Has submitted 1 and 2 of the connection with that number, and decides about nothing.
  private final class Bridge: BridgeSink {
    let window = PushWindow()
    var released = ReleasedPushes()
    private(set) var forgotten: [Int64] = []

    func submit(_: PlainSubmission, detail _: NotificationDetail?, for _: PushTicket, now _: Timestamp)
      -> PushVerdict
    { .busy }
    func keep(_: [UInt8], _: TopicID?, _: Environment) -> Int64 { 0 }
    func forget(_ kept: [Int64]) { forgotten += kept }
    func keptOfSubmitted(on number: Int) -> [Int64] { number == 1 ? [1, 2] : [] }
  }

  @Test("is forgotten by the bridge that keeps it then, with what it has submitted and not decided")
  func bridge() {
    let bridge = Bridge()
    for number in 1...2 { bridge.connectionOpened(number) }
    bridge.release([10], whenClosed: 1)
    bridge.releaseSubmitted(whenClosed: 1)
    bridge.release([20], whenClosed: 2)
    #expect(bridge.forgotten == [])
    bridge.connectionClosed(1, hasHeard: true)
    #expect(bridge.forgotten == [10, 1, 2])
    bridge.connectionClosed(2, hasHeard: false)
    bridge.release([11], whenClosed: 1)
    #expect(bridge.forgotten == [10, 1, 2, 11])
  }
}
