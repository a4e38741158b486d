import Foundation
import Platform
import TestSupport
import Testing

import Cluster

@Suite struct ClusterSealTests {
  private static let place = ClusterSeal.Place(name: "APNS_Z1", created: "2026", sequence: 7)
  private let seal = try? ClusterSeal(secret: Array("a secret of the cluster".utf8))

  @Test(arguments: [[], [7], [UInt8](repeating: 9, count: 100_000)])
  func opensWhatItHasSealed(contents: [UInt8]) throws {
    let seal = try #require(seal)
    let sealed = seal.sealed(contents, at: Self.place)
    #expect(sealed.count == contents.count + ClusterSeal.byteCount && ClusterSeal.isSealed(sealed))
    #expect(seal.opened(sealed, at: Self.place) == contents)
    // An append that is sent again is the same append.
    #expect(seal.sealed(contents, at: Self.place) == sealed)
  }

  @Test(arguments: [
    ClusterSeal.Place(name: "APNS_Z2", created: "2026", sequence: 7),
    ClusterSeal.Place(name: "APNS_Z1", created: "2027", sequence: 7),
    ClusterSeal.Place(name: "APNS_Z1", created: "2026", sequence: 8),
    // What ends the one begins the other.
    ClusterSeal.Place(name: "APNS_Z", created: "12026", sequence: 7),
  ])
  func whatWasSealedForOnePlaceIsNothingElsewhere(place: ClusterSeal.Place) throws {
    let seal = try #require(seal)
    #expect(seal.opened(seal.sealed([1, 2, 3], at: Self.place), at: place) == nil)
  }

  @Test func opensNothingThatWasChangedOrSealedByAnother() throws {
    let seal = try #require(seal)
    let sealed = seal.sealed([1, 2, 3], at: Self.place)
    for index in sealed.indices {
      var changed = sealed
      changed[index] ^= 1
      #expect(seal.opened(changed, at: Self.place) == nil)
    }
    for count in sealed.indices { #expect(seal.opened(Array(sealed.prefix(count)), at: Self.place) == nil) }
    #expect(seal.opened(sealed + [4], at: Self.place) == nil)
    let other = try ClusterSeal(secret: Array("another secret of them".utf8))
    #expect(other.opened(sealed, at: Self.place) == nil)
    #expect(
      other.secret(salt: [1]) != seal.secret(salt: [1]) && seal.secret(salt: [1]) != seal.secret(salt: [2]))
  }

  @Test func theSecretIsInAFileThatNobodyElseReads() throws {
    let folder = ScratchFolder()
    let path = folder.path + "/secret"
    func read(_ text: String, mode: Int) throws -> ClusterSeal {
      try Data(text.utf8).write(to: URL(filePath: path))
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
      return try ClusterSeal(path: path)
    }
    let seal = try read("0123456789abcdef0123456789abcdef\r\n", mode: 0o600)
    #expect(
      try read("0123456789abcdef0123456789abcdef", mode: 0o400).secret(salt: [1]) == seal.secret(salt: [1]))
    for mode in [0o640, 0o604, 0o660] {
      let error = #expect(throws: SocketError.self) {
        try read("0123456789abcdef0123456789abcdef", mode: mode)
      }
      #expect(
        "\(try #require(error))".contains(
          "expected a file that only its owner may read (mode 600), got mode \(String(mode, radix: 8))"))
    }
    let error = #expect(throws: SocketError.self) { try read("too short\n", mode: 0o600) }
    #expect("\(try #require(error))".contains("expected a secret of at least 16 bytes, got 9"))
    #expect(throws: SocketError.self) { try ClusterSeal(path: folder.path) }
  }
}
