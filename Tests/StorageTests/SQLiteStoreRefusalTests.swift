import Basics
import Broker
import Foundation
import Platform
import PushModel
import Storage
import TestSupport
import Testing

@Suite("The store, which it opens and which not")
struct SQLiteStoreRefusalTests {
  let folder = ScratchFolder()
  var path: String { folder.file("store.db") }

  @Test("is for one process")
  func inUse() throws {
    let first = try SQLiteStore(path: path)
    let error = try #require(throws: StoreError.self) { try SQLiteStore(path: path) }
    #expect(error.code == .inUse)
    #expect(error.sentence.contains(path))
    withExtendedLifetime(first) {}
  }

  @Test("can be opened again once it is closed")
  func reopened() throws {
    _ = try SQLiteStore(path: path)
    _ = try SQLiteStore(path: path)
  }

  @Test("refuses a file that is no database")
  func text() throws {
    try folder.write(String(repeating: "this is not a database\n", count: 100), to: "store.db")
    let error = try #require(throws: StoreError.self) { try SQLiteStore(path: path) }
    #expect(error.code == .notADatabase)
  }

  @Test("refuses another program's database, and leaves it as it is", arguments: ["DELETE", "WAL"])
  func foreign(journal: String) throws {
    try Raw.run(path, "PRAGMA journal_mode = \(journal); CREATE TABLE recipe (name TEXT)")
    let before = FileManager.default.contents(atPath: path)
    let error = try #require(throws: StoreError.self) { try SQLiteStore(path: path) }
    #expect(error.code == .notADatabase)
    #expect(before != nil && FileManager.default.contents(atPath: path) == before)
    #expect(try Raw.run(path, "SELECT count(*) FROM sqlite_schema") == 1)
  }

  @Test("refuses what a newer version wrote, and leaves it alone")
  func newer() throws {
    _ = try SQLiteStore(path: path)
    try Raw.run(path, "PRAGMA user_version = 99")
    let error = try #require(throws: StoreError.self) { try SQLiteStore(path: path) }
    #expect(error.code == .newerVersion)
    #expect(error.sentence.contains("99"))
    #expect(try Raw.run(path, "PRAGMA user_version") == 99)
  }

  @Test("refuses a version of ours that there never was, and leaves the file alone", arguments: [0, -1])
  func versionThatNeverWas(version: Int64) throws {
    _ = try SQLiteStore(path: path)
    try Raw.run(path, "PRAGMA user_version = \(version)")
    let error = try #require(throws: StoreError.self) { try SQLiteStore(path: path) }
    #expect(error.code == .damaged)
    #expect(error.sentence.hasSuffix("expected a schema from 1 to 7, got \(version)"))
    #expect(try Raw.run(path, "PRAGMA user_version") == version)
  }

  /// The count of free pages is in the file's bytes 36 to 39, and nothing that is read depends on it.
  @Test("refuses a file whose pages don't fit together, also where they are not read")
  func pages() throws {
    _ = try SQLiteStore(path: path)
    var bytes = try #require(FileManager.default.contents(atPath: path))
    bytes.replaceSubrange(36..<40, with: [0, 0, 0, 5])
    try bytes.write(to: URL(filePath: path))
    let error = try #require(throws: StoreError.self) { try SQLiteStore(path: path) }
    #expect(error.code == .damaged)
  }

  @Test("says where it can't write")
  func unwritable() throws {
    try folder.write("a file, no folder", to: "store.db")
    let error = try #require(throws: StoreError.self) { try SQLiteStore(path: path + "/inside/store.db") }
    #expect(error.code == .notWritable)
    #expect(error.sentence.contains(path))
  }

  @Test(
    "notices damage",
    arguments: [
      "UPDATE message_log SET entries = x'00'", "UPDATE message_log SET entries = zeroblob(41)",
      "UPDATE message_log SET entries = x'ffffff7f' || substr(entries, 5)",
      "UPDATE message_log SET entries = substr(entries, 1, length(entries) - 1)",
      "UPDATE registration SET device = 77", "UPDATE registration SET token = x'01'", "DELETE FROM device",
      "UPDATE topic SET hash = zeroblob(20)", "UPDATE registration SET id = 7 WHERE id = 1",
    ])
  func damaged(_ sql: String) throws {
    do {
      let fleet = try Fleet(path: path)
      try fleet.register(2)
      fleet.push(1, "message")
      try fleet.commit()
    }
    try Raw.run(path, sql)
    let error = try #require(throws: StoreError.self) { try Fleet(path: path) }
    #expect(error.code == .damaged)
  }
}
