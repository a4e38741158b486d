import Basics
import Foundation
import PushModel
import TestSupport
import Testing

import Credentials

/// A certificate that a provider shows, as two PEM files. Each kind is made at its first use and kept for the run.
struct ClientCertificate {
  var certificate: String
  var key: String

  /// For both environments and a single topic.
  static func app(_ topic: String = Site.topic) throws -> ClientCertificate {
    try push("app-\(topic)", topics: [topic], .both, team: Site.team)
  }

  static func sandbox() throws -> ClientCertificate {
    try push("sandbox", topics: [Site.topic], .sandbox, team: Site.team)
  }

  static func production() throws -> ClientCertificate {
    try push("production", topics: [Site.topic], .production, team: Site.team)
  }

  /// For two apps.
  static func several() throws -> ClientCertificate {
    try push("several", topics: [Site.topic, "com.example.second"], .both, team: Site.team)
  }

  /// Ended a year ago.
  static func expired() throws -> ClientCertificate {
    try push(
      "expired", topics: [Site.topic], .both, team: Site.team, at: Site.now.adding(seconds: -63_072_000))
  }

  /// Begins in a year.
  static func notYetValid() throws -> ClientCertificate {
    try push("early", topics: [Site.topic], .both, team: Site.team, at: Site.now.adding(seconds: 31_536_000))
  }

  /// Of our authority, for one environment, with neither UID nor topics.
  static func withoutTopic() throws -> ClientCertificate {
    try cached("no-topic") {
      try made(commonName: "Apple Push Services: nobody", extensions: [.push(.sandbox), .push(.production)])
    }
  }

  /// Of our authority, with a topic, but for no environment.
  static func withoutEnvironment() throws -> ClientCertificate {
    try cached("no-environment") { try made(commonName: "somebody", uid: Site.topic, extensions: []) }
  }

  /// Issued by an authority of the test's own.
  static func foreign(by ca: KeyPair, name: String) throws -> ClientCertificate {
    try cached(name) {
      try made(
        commonName: "Apple Push Services: \(Site.topic)", uid: Site.topic,
        extensions: [.push(.sandbox), .push(.production)], by: ca)
    }
  }

  /// An authority that nobody here knows.
  static func ca() throws -> KeyPair { try CraftedCertificate.ca(now: Site.now) }

  private static func push(
    _ name: String, topics: [String], _ environments: EnvironmentSet, team: String,
    at now: Timestamp = Site.now
  ) throws -> ClientCertificate {
    try cached(name) {
      let topics = try topics.map { try #require(Topic($0)) }
      let root = try Site.folder().loadedRoot(now: Site.now)
      return try KeyPair.push(topics: topics, environments: environments, team: team, by: root, now: now)
    }
  }

  private static func made(
    commonName: String, uid: String? = nil, extensions: [CertificateExtension], by issuer: KeyPair? = nil
  ) throws -> KeyPair {
    try CraftedCertificate.made(
      commonName: commonName, uid: uid, extensions: extensions,
      by: issuer ?? Site.folder().loadedRoot(now: Site.now), from: Site.now.adding(seconds: -3600),
      until: Site.now.adding(seconds: 86_400))
  }

  private static func cached(_ name: String, _ make: () throws -> KeyPair) throws -> ClientCertificate {
    let base = try Site.path() + "/clients/" + name
    let files = ClientCertificate(certificate: base + ".pem", key: base + ".key")
    if !FileManager.default.fileExists(atPath: files.certificate) {
      try make().write(to: PairPaths(base))
    }
    return files
  }
}
