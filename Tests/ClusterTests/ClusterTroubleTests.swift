import Basics
import NATSWire
import Platform
import Testing

import Cluster

@Suite("What keeps a node from being ready") struct ClusterTroubleTests {
  private typealias Facts = ClusterTrouble.Facts
  private static let second: Int64 = 1_000_000_000
  private static let full = JetStreamFailure.refused(
    code: 10047, words: "insufficient storage resources available")

  @Test("the cause is told, not what follows of it")
  func causes() {
    var facts = Facts()
    facts.leaders = ["a", "b", nil, "b"]
    facts.silent = ["b"]
    #expect(ClusterTrouble(facts) == .unowned(1, of: 4))
    facts.leaders[2] = "a"
    #expect(ClusterTrouble(facts) == .silent(["b"], zones: 2))
    facts.hasRead = false
    #expect(ClusterTrouble(facts) == .reading)
    facts.appends = [(nil, 0), (JetStreamFailure.late, Self.second)]
    #expect(ClusterTrouble(facts) == .natsWaits("JetStream did not answer in time"))
    facts.isNATSSilent = true
    #expect(ClusterTrouble(facts) == .natsSilent)
    facts.natsUnreachable = "nats://h:1: can't connect"
    #expect(ClusterTrouble(facts) == .natsUnreachable("nats://h:1: can't connect"))
  }

  @Test("a NATS server that refuses what is written is told at once, one that lets it wait after a second")
  func appends() {
    var facts = Facts()
    facts.appends = [(nil, Self.second - 1), (.nobodyListens, 0)]
    #expect(ClusterTrouble(facts) == nil)
    facts.appends += [(Self.full, 0)]
    #expect(ClusterTrouble(facts) == .natsRefuses("\(Self.full)"))
    #expect("\(ClusterTrouble.natsRefuses("\(Self.full)"))".contains("Free space on its disk"))
  }

  @Test("nodes without zones are not missed, and all is well where every zone has an owner")
  func well() {
    var facts = Facts()
    facts.leaders = ["a", "b"]
    facts.silent = ["c"]
    #expect(ClusterTrouble(facts) == nil)
  }

  @Test("the NATS server's trouble is told once, after a second unless it lasts, and so is its end")
  func news() {
    var news = TroubleNews()
    let begun = Instant.distantPast.adding(nanoseconds: Self.second)
    func take(_ trouble: ClusterTrouble?, _ milliseconds: Int64) -> TroubleNews.News? {
      news.take(trouble, now: begun.adding(nanoseconds: milliseconds * 1_000_000))
    }
    #expect(
      take(.natsUnreachable("x"), 0) == nil && take(.natsUnreachable("x"), 999) == nil
        && take(nil, 1000) == nil)
    #expect(
      take(.natsSilent, 2000) == nil && take(.natsUnreachable("x"), 3000) == .trouble(.natsUnreachable("x")))
    #expect(take(.natsUnreachable("y"), 3100) == nil && take(.natsSilent, 9000) == nil)
    #expect(take(.unowned(1, of: 2), 9100) == .over && take(nil, 9200) == nil)
    #expect(take(.natsRefuses("z"), 9300) == .trouble(.natsRefuses("z")) && take(nil, 9400) == .over)
  }

  @Test("a node is silent that has missed two announcements, while what it says would have been heard")
  func silent() {
    var board = NodeBoard()
    let begun = Instant.distantPast.adding(nanoseconds: 100 * Self.second)
    func after(_ milliseconds: Int64) -> Instant { begun.adding(nanoseconds: milliseconds * 1_000_000) }
    var quick = NodeAnnouncement(name: "quick", ordinal: 2)
    quick.everyMs = 500
    board.hear(quick, now: begun)
    // One of the version before does not say how often it speaks: every second.
    board.hear(NodeAnnouncement(name: "slow", ordinal: 3), now: begun)
    #expect(board.silent(after(999), listening: .distantPast) == [])
    #expect(board.silent(after(1000), listening: .distantPast) == ["quick"])
    #expect(board.silent(after(2000), listening: .distantPast) == ["quick", "slow"])
    #expect(board.silent(after(2000), listening: after(1500)) == [])
  }
}
