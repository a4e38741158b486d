import Basics
import Broker
import CLibrary
import Platform
import PushModel
import TestSupport
import Testing

import Storage

/// What a disk may do to the files: the store starts with what was committed at some moment, or says that it can't. By hand:
/// `FLIPS=100000 FLIP_SEED=7 swift test --filter ByteFlip`.
@Suite("Flipped bytes in the store")
struct ByteFlipTests {
  private static let devices = 24

  /// Everything that was ever committed, for comparing what comes back.
  private struct Committed {
    var tokens: Set<[UInt8]> = []
    var udids: Set<String> = []
    /// By token: what was accepted for it.
    var messages: [[UInt8]: Set<String>] = [:]
    var broadcasts: Set<[UInt8]> = []
    var frames: Set<[UInt8]> = []
    var foreign: Set<[UInt8]> = []
  }

  @Test(
    "it starts with what was accepted, or says that it is damaged; never anything else",
    arguments: [true, false])
  func flips(isWrittenBack: Bool) throws {
    let folder = ScratchFolder()
    let (fleet, committed) = try filled(folder)
    let original = try copied(folder, from: fleet, isWrittenBack: isWrittenBack)
    let files = ["store.db", "store.db-wal"].filter { original.size(of: $0) > 0 }
    let environment = ProcessEnvironment.variables
    var chance = SeededChoices(seed: environment["FLIP_SEED"].flatMap { UInt64($0) } ?? 1)
    let count = environment["FLIPS"].flatMap { Int($0) } ?? 250
    var refused = 0
    for round in 0..<count {
      let copy = ScratchFolder()
      try copy.copy(from: original)
      let flips = (0..<Int.random(in: 1...3, using: &chance)).map { _ in
        let file = files[Int.random(in: 0..<files.count, using: &chance)]
        // Half of them where there is the most meaning: page headers and the first pages.
        let size = copy.size(of: file)
        let end = Bool.random(using: &chance) ? min(size, 4 * 8192) : size
        return (
          file, Int.random(in: 0..<end, using: &chance), UInt8(1) << UInt8.random(in: 0..<8, using: &chance)
        )
      }
      for (file, offset, bits) in flips { try copy.flip(file, offset, bits) }
      do {
        try compare(copy, committed, "round \(round): \(flips)")
      } catch let error as StoreError {
        #expect(error.sentence.contains("store"), "\(error)")
        refused += 1
      }
    }
    // SQLite takes a write-ahead log up to its last whole commit, and says nothing of the rest.
    #expect(
      refused < count && (refused > count / 10 || !isWrittenBack), "\(refused) of \(count) were refused")
  }

  @Test("a flipped byte of a kept message is found wherever it is")
  func payload() throws {
    let folder = ScratchFolder()
    let (fleet, _) = try filled(folder)
    let original = try copied(folder, from: fleet, isWrittenBack: true)
    let bytes = try original.bytes(of: "store.db")
    let needle = Array("message of 7".utf8)
    let places = bytes.indices.dropLast(needle.count).filter {
      bytes[$0] == needle[0] && bytes[$0..<$0 + needle.count].elementsEqual(needle)
    }
    let place = try #require(places.last)
    for offset in place..<place + needle.count {
      let copy = ScratchFolder()
      try copy.copy(from: original)
      try copy.flip("store.db", offset, 1)
      let error = #expect(throws: StoreError.self) { try Fleet(path: copy.file("store.db")) }
      #expect(error?.code == .damaged)
    }
  }

  /// What the folder of an open store holds now, with the write-ahead log or with that written back.
  private func copied(_ folder: ScratchFolder, from fleet: Fleet, isWrittenBack: Bool) throws -> ScratchFolder
  {
    let copy = ScratchFolder()
    try withExtendedLifetime(fleet) { try copy.copy(from: folder) }
    if isWrittenBack { try Raw.run(copy.file("store.db"), "PRAGMA wal_checkpoint(TRUNCATE)") }
    return copy
  }

  /// A store with something in each table, and what it holds.
  private func filled(_ folder: ScratchFolder) throws -> (Fleet, Committed) {
    let fleet = try Fleet(path: folder.file("store.db"))
    var committed = Committed()
    try fleet.register(Self.devices)
    try fleet.commit()
    for turn in 0..<6 {
      for row in RegistrationID.rows(below: Self.devices) where (row.index + turn) % 3 == 0 {
        let text = "message of \(row) in turn \(turn) " + String(repeating: "x", count: 40 * row.index)
        fleet.push(row, text)
        committed.messages[fleet.broker.registry[row].token.bytes, default: []].insert(text)
      }
      let frame = Array("frame \(turn)".utf8)
      _ = fleet.broker.pendingForwards.add(
        frame: frame, topic: Fleet.topic, environment: .sandbox,
        apnsID: APNSID(high: 1, low: UInt64(turn)),
        receivedAt: fleet.now)
      committed.frames.insert(frame)
      let gone = [UInt8](repeating: UInt8(turn), count: 32)
      fleet.broker.feedback.reportForeignGone(token: gone, topic: 0, environment: .sandbox, goneAt: fleet.now)
      committed.foreign.insert(gone)
      try fleet.commit()
    }
    for index in 0..<Self.devices {
      committed.tokens.insert(fleet.broker.registry[RegistrationID(index)].token.bytes)
      committed.udids.insert(fleet.broker.registry[DeviceID(index)].udid.text)
    }
    return (fleet, committed)
  }

  private func compare(_ folder: ScratchFolder, _ committed: Committed, _ flips: Comment) throws {
    let fleet = try Fleet(path: folder.file("store.db"))
    let registry = fleet.broker.registry
    #expect(registry.devices.allSatisfy { committed.udids.contains($0.udid.text) }, flips)
    for row in RegistrationID.rows(below: registry.registrationCount) {
      let token = registry[row].token.bytes
      #expect(committed.tokens.contains(token), flips)
      if let text = fleet.kept(row) { #expect(committed.messages[token]?.contains(text) == true, flips) }
    }
    #expect(fleet.broker.pendingForwards.all.allSatisfy { committed.frames.contains($0.frame) }, flips)
    #expect(fleet.broker.feedback.foreign.entries.allSatisfy { committed.foreign.contains($0.token) }, flips)
    // And it goes on, or says why not.
    if registry.registrationCount > 0 {
      fleet.push(0, "new")
      try fleet.commit()
      #expect(fleet.kept(0) == "new", flips)
    }
  }
}

extension ScratchFolder {
  fileprivate func flip(_ name: String, _ offset: Int, _ bits: UInt8) throws {
    let descriptor = open(file(name), O_RDWR)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    var byte: UInt8 = 0
    try #require(pread(descriptor, &byte, 1, off_t(offset)) == 1)
    byte ^= bits
    try #require(pwrite(descriptor, &byte, 1, off_t(offset)) == 1)
  }

  fileprivate func bytes(of name: String) throws -> [UInt8] {
    let file = try #require(fopen(file(name), "r"))
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: size(of: name))
    try #require(fread(&bytes, 1, bytes.count, file) == bytes.count)
    return bytes
  }
}
