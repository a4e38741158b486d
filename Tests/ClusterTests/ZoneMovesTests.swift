import Testing
import Zones

import Cluster

@Suite struct ZoneMovesTests {
  private let zero = ZoneNumber(0), one = ZoneNumber(1)

  @Test func aZoneIsDueOnceItsSessionsHaveEndedInAnEarlierTurn() {
    var moves = ZoneMoves()
    moves.begin(zero, to: "b")
    #expect(moves.isMoving(zero) && !moves.isMoving(one) && moves.due().isEmpty)
    moves.begin(one, to: "c")
    #expect(moves.due().map(\.zone) == [zero])
    // Both are due until they have gone.
    #expect(moves.due().map(\.to).sorted() == ["b", "c"])
    moves.left(zero)
    #expect(moves.due().map(\.to) == ["c"])
    moves.left(one)
    #expect(moves.isEmpty && moves.due().isEmpty)
  }

  @Test func anOrderHoldsUntilTheZoneHasComeOrGone() {
    var moves = ZoneMoves()
    moves.request(one, at: "b")
    moves.request(ZoneNumber(9), at: "b")
    #expect(moves.applied(to: ["a", "a"]) == ["a", "b"])
    #expect(moves.applied(to: []) == [])
    moves.left(one)
    #expect(moves.applied(to: ["a", "a"]) == ["a", "a"])
    moves.request(zero, at: "b")
    moves.arrived(zero)
    #expect(moves.applied(to: ["a", "a"]) == ["a", "a"])
  }

  @Test func fewMoveAtOnce() {
    var moves = ZoneMoves()
    for number in 0..<8 {
      #expect(moves.hasRoom)
      moves.begin(ZoneNumber(number), to: "b")
    }
    #expect(!moves.hasRoom)
  }
}
