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
}
