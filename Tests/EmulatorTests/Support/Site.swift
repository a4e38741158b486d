import Basics
import COpenSSL
import Foundation
import PushModel
import TestSupport
import Testing

import Credentials

/// Key material made once for the whole run, because RSA keys are slow to make.
enum Site {
  static let topic = "com.example.app"
  static let team = "DEF123GHIJ"
  static let otherTeam = "ZZZ999YYYY"

  /// Token keys in the folder: for everything, for one topic each, for one environment, of another team.
  static let teamKey = "TEAMKEY001"
  static let topicKey = "TOPICKEY01"
  static let otherTopicKey = "TOPICKEY02"
  static let sandboxKey = "SANDBOX001"
  static let productionKey = "PRODUCT001"
  static let foreignKey = "FOREIGN001"

  private static let shared: Result<String, any Error> = Result {
    let path = try RunFolder.make(now: now)
    try FileManager.default.createDirectory(
      atPath: path + "/clients", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try makeTokenKeys(CertsFolder(path: path))
    return path
  }

  /// The real moment: TLS clients judge the server's certificate by it.
  static var now: Timestamp { Timestamp(seconds: Int64(Date().timeIntervalSince1970)) }

  /// The shared certs folder.
  static func path() throws -> String { try shared.get() }

  static func folder() throws -> CertsFolder {
    let folder = CertsFolder(path: try path())
    try folder.prepare(now: now)
    return folder
  }

  private static func makeTokenKeys(_ folder: CertsFolder) throws {
    let app = try #require(Topic(topic))
    let other = try #require(Topic("com.example.other"))
    let keys: [(String, String, [Topic], EnvironmentSet)] = [
      (teamKey, team, [], .both), (topicKey, team, [app], .both), (otherTopicKey, team, [other], .both),
      (sandboxKey, team, [], .sandbox), (productionKey, team, [], .production),
      (foreignKey, otherTeam, [], .both),
    ]
    for (key, team, topics, environments) in keys {
      try folder.issueTokenKey(
        team: team, keyId: key, topics: topics, environments: environments, now: now)
    }
  }
}

extension Timestamp {
  func adding(seconds: Int64) -> Timestamp { adding(nanoseconds: seconds * 1_000_000_000) }
}

extension Instant {
  func adding(seconds: Int64) -> Instant { adding(nanoseconds: seconds * 1_000_000_000) }
}

/// The bytes that hexadecimal text spells; blanks and line ends are for the eye.
func bytes(_ hex: String) -> [UInt8] { Hex.decode(hex.filter { !$0.isWhitespace }) ?? [] }
