import Basics
import TestSupport
import Testing

import Cluster

@Suite("What a data folder remembers of its cluster") struct KnownClusterTests {
  private let folder = ScratchFolder()

  private func known(_ cluster: String?, identity: String = "1") -> KnownCluster {
    KnownCluster(cluster, identity: identity, made: "2026-07-01T00:00:00Z")
  }

  private func refusal(_ known: KnownCluster, _ found: KnownCluster?, for name: String?) -> String? {
    known.refusal(of: found, for: ClusterNames(name), in: folder.path)
  }

  @Test("It is as it was written, with a name and without", arguments: [nil, "blue"])
  func written(cluster: String?) throws {
    try known(cluster).write(in: folder.path)
    #expect(try KnownCluster.read(in: folder.path) == known(cluster))
  }

  @Test("A folder of the first version knows no name")
  func first() throws {
    try folder.write(#"{"version": 1, "identity": "1", "made": "then"}"#, to: KnownCluster.fileName)
    #expect(try KnownCluster.read(in: folder.path) == KnownCluster(nil, identity: "1", made: "then"))
  }

  @Test("A node that is given another cluster's name hears of both names, and not that data are lost")
  func otherName() throws {
    for found in [nil, known("blue", identity: "2")] {
      let told = try #require(refusal(known(nil), found, for: "blue"))
      #expect(told.contains("is of the cluster without a name") && told.contains("of the cluster blue"))
      #expect(!told.contains("lost") && told.hasSuffix("or with another --data"), "\(told)")
    }
    let told = try #require(refusal(known("blue"), nil, for: nil))
    #expect(
      told.contains("is of the cluster blue") && told.contains("of the cluster without a name"), "\(told)")
  }

  @Test("Of its own name, sentences end before the next begins")
  func ownName() throws {
    let other = try #require(refusal(known("blue"), known("blue", identity: "2"), for: "blue"))
    #expect(other.contains("another, made at 2026-07-01T00:00:00Z. Restore"), "\(other)")
    let none = try #require(refusal(known("blue"), nil, for: "blue"))
    #expect(none.contains("none: has it lost its data? Restore"), "\(none)")
    #expect(refusal(known("blue"), known("blue"), for: "blue") == nil)
  }
}
