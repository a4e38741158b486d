import Basics
import Testing

import Cluster

@Suite("Who belongs to a cluster") struct ClusterMembersTests {
  private func names(_ records: [JSONValue]) -> [String] {
    var members = ClusterMembers()
    // The first record is the cluster's birth.
    for (index, record) in records.enumerated() { members.read(record, at: UInt64(index) + 2) }
    return members.names
  }

  @Test("Who has joined does until it has left, and again when it comes back")
  func life() {
    let (joined, left) = (ClusterMembers.joined("b"), ClusterMembers.left("b", ordinal: 2))
    #expect(names([joined, ClusterMembers.joined("a")]) == ["a", "b"])
    #expect(names([joined, left]) == [])
    #expect(names([joined, left, joined]) == ["b"])
  }

  @Test("That an earlier life has left says nothing of the next, which joined before that was written")
  func lateWord() {
    let joined = ClusterMembers.joined("b")
    #expect(names([joined, joined, ClusterMembers.left("b", ordinal: 2)]) == ["b"])
    #expect(names([joined, joined, ClusterMembers.left("b", ordinal: 3)]) == [])
  }

  @Test("Whoever joined without saying that it will tell when it leaves is not missed")
  func firstVersions() {
    let unmarked: JSONValue = ["kind": "joined", "node": "b"]
    #expect(names([unmarked, ClusterMembers.joined("a"), unmarked]) == ["a"])
    #expect(names([ClusterMembers.joined("b"), unmarked]) == [])
    #expect(names([unmarked, ClusterMembers.joined("b")]) == ["b"])
    #expect(names([["kind": "joined", "node": "b", "leaves": false]]) == [])
  }

  @Test("Orders and what is none of ours say nothing of nodes")
  func others() {
    #expect(
      names([["kind": "order", "node": "b"], ["node": "c"], "joined", ["kind": "left", "node": "b"]]) == [])
  }

  @Test("No more are remembered than can live, and the first goes first")
  func bound() {
    let found = names((0...ClusterMembers.limit).map { ClusterMembers.joined("node-\($0)") })
    #expect(found.count == ClusterMembers.limit && !found.contains("node-0"))
  }
}
