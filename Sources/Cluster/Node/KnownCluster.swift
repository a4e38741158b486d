import Basics
import Platform

/// What a node's data folder remembers of the cluster that it is in, so that another in its place, such as the empty one of a NATS
/// server that has lost all, is not taken for it without a word.
package struct KnownCluster: Equatable, Sendable {
  /// Name of the file in the data folder.
  package static let fileName = "cluster.json"
  /// Most that is read of it, in bytes: it has some hundred.
  private static let fileLimit = 4096

  /// Its name among those of its NATS server; nil for the one that has none.
  package var cluster: String?
  /// Of the cluster's birth (`ClusterBirth.identity`).
  package var identity: String
  /// When its own log was made, in the NATS server's words.
  package var made: String

  package init(_ cluster: String?, identity: String, made: String) {
    (self.cluster, self.identity, self.made) = (cluster, identity, made)
  }

  private static func path(in folder: String) -> String { "\(folder)/\(fileName)" }

  /// What a folder remembers; nil if that is nothing yet. Throws a sentence for a file that is none of ours.
  package static func read(in folder: String) throws -> KnownCluster? {
    let path = path(in: folder)
    guard PathCalls.exists(path) else { return nil }
    guard let document = JSONReader.read(try TextFile.readPlain(path, limit: fileLimit)),
      document.member("version")?.integer == 1, let identity = document.string("identity"),
      let made = document.string("made")
    else {
      throw ClusterJoin.Refusal(
        description: "expected \(path) as a node writes it, got something else: remove it, or restore it")
    }
    return KnownCluster(document.string("cluster"), identity: identity, made: made)
  }

  /// Has a folder remember it; makes the folder if need be.
  package func write(in folder: String) throws {
    _ = PathCalls.makeFolder(folder, 0o700)
    var members: [(String, JSONValue)] = [
      ("version", 1), ("identity", .string(identity)), ("made", .string(made)),
    ]
    if let cluster { members.append(("cluster", .string(cluster))) }
    try TextFile.write(Self.path(in: folder), JSONValue.object(members).encoded + [0x0a])
  }

  /// Why a node that remembers this can't be in the cluster that NATS has under the names that the node was given, if it has
  /// one; nil if it can.
  package func refusal(of found: KnownCluster?, for names: ClusterNames, in folder: String) -> String? {
    guard found?.identity != identity else { return nil }
    guard cluster == names.cluster else {
      return "\(Self.path(in: folder)) is of \(Self.called(cluster)), and this node was to be of"
        + " \(Self.called(names.cluster)): start it with the --cluster of that folder, or with another --data"
    }
    let there = found.map { "another, made at \($0.made)." } ?? "none: has it lost its data?"
    return "\(Self.path(in: folder)) is of a cluster made at \(made), and the NATS server has \(there)"
      + " Restore the server's data to go on with that cluster; to go without it, with other tokens, start with another --data,"
      + " or remove that file"
  }

  /// A cluster as people give it.
  private static func called(_ cluster: String?) -> String {
    cluster.map { "the cluster \($0) (--cluster)" } ?? "the cluster without a name (no --cluster)"
  }
}
