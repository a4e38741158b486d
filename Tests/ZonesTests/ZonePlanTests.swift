import Basics
import PushModel
import Testing

import Zones

@Suite struct ZonePlanTests {
  /// Zones by the first letters of their leaders; `-` for none.
  private func plan(_ leaders: String, _ nodes: String) -> String {
    let facts = leaders.enumerated().map {
      ZonePlan.Fact(zone: ZoneNumber($0.offset), leader: $0.element == "-" ? nil : String($0.element))
    }
    return ZonePlan(facts, nodes: nodes.map { String($0) }).targets.joined()
  }

  @Test(arguments: [
    ("------", "ab", "aaabbb"), ("aaaaaa", "a", "aaaaaa"), ("aaaaaa", "ab", "aaabbb"),
    ("aaabbb", "abc", "aacbbc"),
    // The dead one's go to those who have fewer.
    ("aabbcc", "ab", "aabbab"), ("aaaab", "ab", "aaabb"), ("", "ab", ""),
    // Odd ones stay where they are.
    ("bbbaa", "ab", "bbbaa"), ("aaabb", "ab", "aaabb"),
  ])
  func spreadsEvenlyAndMovesFew(leaders: String, nodes: String, targets: String) {
    #expect(plan(leaders, nodes) == targets)
  }

  @Test func hasNoTargetsWithoutNodes() { #expect(plan("aab", "") == "") }

  @Test func movesNothingOnceItIsCarriedOut() {
    var choices = SeededChoices(seed: 7)
    for _ in 0..<300 {
      let nodes = (0...Int(choices.whole(upTo: 6))).map { "n\($0)" }
      let facts = (0..<64).map { zone in
        let leader = choices.whole(upTo: 9)
        return ZonePlan.Fact(zone: ZoneNumber(zone), leader: leader == 9 ? nil : "n\(leader)")
      }
      let targets = ZonePlan(facts, nodes: nodes).targets
      let counts = nodes.map { node in targets.count { $0 == node } }
      #expect(targets.count == 64 && (counts.max() ?? 0) - (counts.min() ?? 0) <= 1, "\(counts)")
      let settled = facts.indices.map { ZonePlan.Fact(zone: facts[$0].zone, leader: targets[$0]) }
      #expect(ZonePlan(settled, nodes: nodes).targets == targets)
    }
  }

  @Test func aTokenSaysItsZoneInItsFirstTwoBytes() {
    #expect(ZoneMap.usual.count == 64)
    let zone = { (token: [UInt8]) in ZoneMap.usual.zone(ofUnknown: token.span).number }
    #expect(zone([0, 63]) == 63 && zone([0, 0, 9]) == 0)
    // There is no such zone: as any other token without one.
    #expect(zone([0, 64]) < 64 && zone([1, 0]) < 64)
  }

  @Test func zonesOfDevicesAreThereForGoodAndSpread() throws {
    let map = try #require(ZoneMap(count: 64))
    // By another program that does what `ZoneMap` says: devices and logs depend on it for good.
    #expect(["phone-1", "phone-2"].compactMap { UDID($0) }.map { map.zone(of: $0).number } == [11, 8])
    #expect(map.zone(ofChannel: []) == ZoneNumber(42))
    var counts = [Int](repeating: 0, count: 64)
    for number in 0..<6400 {
      let udid = try #require(UDID("phone-\(number)"))
      counts[map.zone(of: udid).number] += 1
      let token = try #require(
        DeviceToken(bytes: [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 32)))
      let stamped = map.stamped(token, for: udid)
      let bytes = stamped.bytes
      let zone = map.zone(ofUnknown: bytes.span)
      #expect(zone == map.zone(of: udid))
      #expect(stamped.bytes[2...] == token.bytes[2...])
    }
    #expect(counts.allSatisfy { 60...140 ~= $0 }, "\(counts)")
    #expect(ZoneMap(count: 0) == nil && ZoneMap(count: 1025) == nil)
  }
}
