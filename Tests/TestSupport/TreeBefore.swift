import Basics
import Broker
import Credentials
import Foundation
import PushModel

/// What an emulator of before wrote, and what it had been told: `Tests/Fixtures/README.md`.
package enum TreeBefore {
  /// Of its tokens.
  package static let tokenSeed = "tree before"
  /// What its cluster sealed with.
  package static let clusterSecret = Array("a plain secret of tests".utf8)

  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../Fixtures")

  package static func path(_ name: String) -> String {
    folder.appending(path: name).standardized.path(percentEncoded: false)
  }

  package static func bytes(_ name: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(filePath: path(name))))
  }

  /// A message in a stream of its cluster.
  package struct Record {
    package let stream: String
    /// When the stream was made, in the NATS server's words.
    package let created: String
    package let sequence: UInt64
    package let bytes: [UInt8]
  }

  package static func records(_ name: String) throws -> [Record] {
    try bytes(name).split(separator: 10).map { line in
      let object = try JSONObject(body: Array(line))
      return Record(
        stream: try object.required("stream", .text), created: try object.required("created", .text),
        sequence: try object.required("sequence", .whole), bytes: try object.required("bytes", .base64))
    }
  }

  /// What a broker must know that has read what was written, as `Broker.stateLines` says it without ids. The pushes by sockets
  /// were for a single emulator alone.
  package static func lines(single: Bool) throws -> Set<String> {
    let (app, other) = ("com.example.app", "com.example.other")
    let activity = "\(app).push-type.liveactivity"
    let full = APNSID.words(APNSID("01234567-89ab-cdef-0123-456789abcdef"))
    let adopted = APNSID.words(APNSID("fedcba98-7654-3210-fedc-ba9876543210"))
    let token = { (digit: String) in String(repeating: digit, count: 64) }
    let chosen = String(repeating: "ab", count: 16)
    let start = "2026-12-24T12:00:00Z"
    return [
      "phone-1 2 [10, 11, 12, 13] \(time("2026-12-01T08:00:00.001Z")) \(time("2026-12-02T09:30:00.250Z"))",
      "\(String(repeating: "5a", count: 32)) phone-1 \(app) - 3 sandbox given installed"
        + " \(time("2026-12-01T08:00:01Z")) -"
        + " 0 \(time("2026-12-20T10:00:00.500Z")) \(time("2027-01-15T08:00:00Z")) \(full) 1800000000"
        + #" conserving true background {"aps":{"alert":"kept, with all there is"}} news"#,
      "\(token("1")) phone-1 \(activity) start:Ride 1 sandbox given installed \(time("2026-12-01T08:00:02Z")) - -",
      "\(token("2")) phone-1 \(activity) activity:a-1 2 sandbox given removed \(time("2026-12-01T08:00:03Z")) - -",
      "phone-2 1 [] \(time("2026-12-03T00:00:00Z")) \(time("2026-12-04T00:00:00Z"))",
      "\(token("3")) phone-2 \(app) - 1 production given waits \(time("2026-12-03T00:00:01Z"))"
        + " \(time("2026-12-10T00:00:00Z")) -",
      "\(token("4")) phone-2 \(other) - 1 sandbox given gone \(time("2026-12-03T00:00:02Z"))"
        + " \(time("2026-12-11T00:00:00Z")) -",
      "c0ffee01 phone-2 \(app) - 1 sandbox chosen installed \(time("2026-12-03T00:00:03Z")) -"
        + " 0 \(time("2026-12-21T00:00:00Z")) \(time("2027-01-20T00:00:00Z")) (0, 0) 4294967295"
        + #" immediate false - {"aps": {}}  -"#,
      "\(token("6")) phone-2 \(other) - 1 production chosen installed \(time("2026-12-03T00:00:04Z")) - -",
      "\(token("7")) phone-2 sha1:000102030405060708090a0b0c0d0e0f10111213 - 1 sandbox given installed"
        + " \(time("2026-12-03T00:00:05Z")) - -",
      "phone-3 2147483647 [] \(time("2026-12-05T00:00:00Z")) \(time("2026-12-06T00:00:00Z"))",
      "\(token("8")) phone-3 \(app) - 1 sandbox given installed \(time("2026-12-05T00:00:01Z")) - "
        + (single
          ? "0 \(time(start)) \(time("2027-01-23T12:00:00Z")) (0, 0) 4294967295"
            + #" immediate false - {"aps":{"alert":"binary"}} -"#
          : "-"),
      "\(chosen) 1 [] \(time(start)) \(time(start))",
      "\(chosen) \(chosen) \(app) - 1 sandbox chosen installed \(time(start)) -"
        + " 0 \(time(start)) \(time("2027-01-03T18:13:20Z")) \(adopted) 1799000000"
        + #" immediate true alert {"aps":{"alert":"adopted"}} -"#,
      #"channel \#(app) [1, 2, 3, 4, 5, 6] true 0 {"aps":{"event":"update"}} conserving"#
        + " \(time("2026-12-24T11:00:00Z")) \(time("2026-12-24T19:00:00Z")) 1798200000",
      "phone-1 listens to [1, 2, 3, 4, 5, 6] \(Int64.min)",
      "phone-3 listens to [1, 2, 3, 4, 5, 6] \(time("2026-12-24T10:00:00Z"))",
      "channel \(other) [7, 8, 9] false -",
    ]
  }

  private static func time(_ text: String) -> String {
    Timestamp(rfc3339: text).map { "\($0.nanoseconds)" } ?? "no time: \(text)"
  }
}

/// Tokens as an emulator with a seed makes them.
package final class SeededDerivation: TokenDerivation {
  private let tokens: IdentityDerivation

  package init(seed: String) throws { tokens = try IdentityDerivation(secret: TokenSecret(seed: seed)) }

  package func appToken(
    environment: Environment, udid: UDID, topicHash: TopicHash, install: Int32, context: TokenContext?
  ) -> DeviceToken {
    tokens.appToken(
      environment: environment, udid: udid, topicHash: topicHash, install: install, context: context)
  }

  package func name(ofCustom token: [UInt8]) -> DeviceToken { tokens.name(ofCustom: token) }

  package func baseToken(environment: Environment, udid: UDID, identity: Int32) -> DeviceToken {
    tokens.baseToken(environment: environment, udid: udid, identity: identity)
  }
}
