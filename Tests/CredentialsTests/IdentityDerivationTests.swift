import Basics
import Foundation
import PushModel
import TestSupport
import Testing

import Credentials

@Suite("Identity derivation")
struct IdentityDerivationTests {
  private func derivation(_ seed: String = "seed") throws -> IdentityDerivation {
    try IdentityDerivation(secret: TokenSecret(seed: seed))
  }

  /// `Documentation/device-protocol.md#filter`.
  @Test(
    "a topic's hash is the SHA-1 of its UTF-8",
    arguments: [
      ("com.apple.madrid", "e4e6d952954168d0a5db02dbaf27cc35fc18d159"),
      ("com.example.app", "a003f1da17993ee51f2b3ceef6c6153afa8f3ec2"),
    ])
  func topicHash(_ name: String, _ expected: String) throws {
    let derivation = try derivation()
    let topic = try topic(name)
    #expect(derivation.topicHash(topic).hex == expected)
  }

  /// HMAC-SHA256 computed with Python's hmac module over the documented encoding.
  @Test("an app token is the HMAC of its documented encoding")
  func documentedEncoding() throws {
    let derivation = try derivation("golden")
    let udid = try udid("phone-1")
    let hash = derivation.topicHash(try topic("com.example.app"))
    let app = derivation.appToken(environment: .production, udid: udid, topicHash: hash, install: 7)
    #expect(app.hex == "813f39bb47b2062fea1ebd0e5fef31f83ce3527f469996792d172e613147fa9e")
    let part = derivation.appToken(
      environment: .production, udid: udid, topicHash: hash, install: 7,
      context: .start(attributesType: "Adventure"))
    #expect(part.hex == "9a74c83def2d6b2f5eb9f5789538d6d3bd5f4420a894801102d3d326d949d6c4")
    let base = derivation.baseToken(environment: .sandbox, udid: udid, identity: 2)
    #expect(base.hex == "5ddb21effd1b7f14d9037a7caedf2227c8cddd142f2ae34537dec87a0302e957")
  }

  @Test("the same seed gives the same tokens, whatever was asked before")
  func deterministic() throws {
    let udid = try udid("phone-1")
    let (first, second) = (try derivation(), try derivation())
    let hash = first.topicHash(try topic("com.example.app"))
    _ = second.baseToken(environment: .production, udid: udid, identity: 9)
    let token = first.appToken(environment: .sandbox, udid: udid, topicHash: hash, install: 1)
    #expect(second.appToken(environment: .sandbox, udid: udid, topicHash: hash, install: 1) == token)
    #expect(first.appToken(environment: .sandbox, udid: udid, topicHash: hash, install: 1) == token)
  }

  @Test("every input makes another token")
  func everyInputCounts() throws {
    var tokens: Set<DeviceToken> = []
    var expected = 0
    for seed in ["a", "b"] {
      let derivation = try derivation(seed)
      let hashes = try ["com.example.a", "com.example.b"].map { derivation.topicHash(try topic($0)) }
      for environment in Environment.allCases {
        for name in ["x", "xx", "y"] {
          for number in [1, 2, 256] as [Int32] {
            let udid = try udid(name)
            tokens.insert(derivation.baseToken(environment: environment, udid: udid, identity: number))
            tokens.formUnion(
              hashes.map {
                derivation.appToken(environment: environment, udid: udid, topicHash: $0, install: number)
              })
            expected += 3
          }
        }
      }
    }
    #expect(tokens.count == expected)
  }

  @Test("a kept secret is made once, readable by its owner only, and gives the same tokens again")
  func keptSecret() throws {
    let folder = ScratchFolder()
    let first = try TokenSecret.kept(inFolder: folder.path)
    let path = folder.path + "/token.secret"
    #expect(try permissions(of: path) == 0o600)
    #expect(first.bytes.count == 32)
    #expect(try contents(of: path) == Array((Hex.encode(first.bytes) + "\n").utf8))
    #expect(try TokenSecret.kept(inFolder: folder.path).bytes == first.bytes)
    #expect(TokenSecret.random().bytes != first.bytes)
    #expect(!"\(first)".contains(Hex.encode(first.bytes)))
  }

  @Test("of several that make a kept secret at the same time one does, and the others get that")
  func secretAtOnce() async throws {
    let folder = ScratchFolder()
    let secrets = try await withThrowingTaskGroup(of: [UInt8].self) { group in
      for _ in 0..<8 { group.addTask { try TokenSecret.kept(inFolder: folder.path).bytes } }
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(secrets.count == 1)
  }

  @Test("blanks and line ends in a secret file count for nothing")
  func spacedSecret() throws {
    let folder = ScratchFolder()
    let text = String(repeating: "00 0f\t", count: 16) + "\r\n"
    try write(Array(text.utf8), to: folder.path + "/token.secret")
    let secret = try TokenSecret.kept(inFolder: folder.path)
    #expect(secret.bytes == (0..<32).map { $0.isMultiple(of: 2) ? 0x00 : 0x0f })
  }

  @Test("a damaged secret file is named and left alone", arguments: ["", "00ff", "no hexadecimal digits"])
  func damagedSecret(_ content: String) throws {
    let folder = ScratchFolder()
    let path = folder.path + "/token.secret"
    try write(Array(content.utf8), to: path)
    let error = try #require(throws: CredentialsError.self) { try TokenSecret.kept(inFolder: folder.path) }
    #expect(error.code == .malformed && error.message.contains("token.secret"))
    #expect(try contents(of: path) == Array(content.utf8))
  }
}
