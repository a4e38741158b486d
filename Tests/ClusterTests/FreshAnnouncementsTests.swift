import Testing

import Cluster

@Suite struct FreshAnnouncementsTests {
  private static func said(
    _ number: UInt64, by name: String = "b", life ordinal: UInt64 = 3, seen: UInt64 = 5
  ) -> NodeAnnouncement {
    var announcement = NodeAnnouncement(name: name, ordinal: ordinal)
    (announcement.number, announcement.seen) = (number, seen)
    return announcement
  }

  /// Whether a node of that ordinal takes each of them, one after the other.
  private func taken(_ announcements: [NodeAnnouncement], by ordinal: UInt64) -> [Bool] {
    var fresh = FreshAnnouncements(ordinal: ordinal)
    return announcements.map { fresh.admits($0) }
  }

  @Test func eachCountsOnceAndBehindAllBefore() {
    let said = [Self.said(1), Self.said(3), Self.said(3), Self.said(2), Self.said(1, by: "c"), Self.said(4)]
    #expect(taken(said, by: 5) == [true, true, false, false, true, true])
  }

  @Test func anEarlierLifeIsOver() {
    let said = [Self.said(9, life: 3), Self.said(1, life: 4), Self.said(10, life: 3)]
    #expect(taken(said, by: 2) == [true, true, false])
  }

  @Test func whatWasSaidBeforeThisNodeJoinedIsOld() {
    #expect(taken([Self.said(1, seen: 5), Self.said(2, seen: 6)], by: 6) == [false, true])
  }

  @Test func remembersNoMoreThanTheNewest() {
    let all = (1...UInt64(NodeBoard.limit + 1)).map { Self.said(1, by: "n\($0)", life: $0) }
    let taken = taken(all + [all[1], all[0]], by: 1)
    #expect(taken == all.map { _ in true } + [false, true])
  }
}
