import Basics
import Broker
import Faults
import SavedState
import TestSupport
import Testing

import Console

@Suite struct SavedStatePartsTests {
  private func lab() -> ConsoleLab {
    ConsoleLab {
      $0.credentials = FakeIssuer()
      $0.faults = FaultEngine(seed: 1)
    }
  }

  private func text(_ lab: ConsoleLab) throws -> String {
    String(decoding: try lab.ask("GET", "/api/v1/export").body, as: UTF8.self)
  }

  private func load(_ documents: [[UInt8]], into lab: ConsoleLab) throws {
    for document in documents {
      let answer = try lab.ask("POST", "/api/v1/import", json: String(decoding: document, as: UTF8.self))
      try #require(answer.status == 200, "\(String(decoding: answer.body, as: UTF8.self))")
    }
  }

  @Test("What fits is sent as it is, and so is what nobody can read")
  func fits() throws {
    #expect(try SavedStateParts.needed(for: Array(#"{"version":1,"apps":[]}"#.utf8)) == nil)
    #expect(try SavedStateParts.needed(for: Array("no JSON".utf8)) == nil)
  }

  @Test("Each part is taken, and all of them make what the whole would", arguments: 0..<20)
  func roundTrip(seed: Int) throws {
    let first = lab()
    let issuer = FakeIssuer()
    first.parts.credentials = issuer
    try RandomState(seed: UInt64(seed)).fill(first, issuer)
    let document = try text(first)
    let parts = try SavedStateParts(
      Array(document.utf8), limits: .init(bytes: 12_000, values: 2000, rows: 60, credentials: 1))
    #expect(parts.documents.count > 1 && parts.documents.allSatisfy { $0.count <= 12_000 })
    let second = lab()
    try load(parts.documents, into: second)
    #expect(try text(second) == document)
    try load(parts.documents, into: second)
    #expect(try text(second) == document, "twice is the same as once")
  }

  @Test("101 certificates are two documents, with the apps in their order")
  func credentials() throws {
    let apps = (0..<101).map { #"{"topic":"app\#($0)","certificate":"both"}"# }.joined(separator: ",")
    let parts = try #require(
      try SavedStateParts.needed(for: Array("{\"version\":1,\"apps\":[\(apps)]}".utf8)))
    let lists = parts.documents.map {
      JSONReader.read($0)?["apps"].elements.compactMap { $0["topic"].string } ?? []
    }
    #expect(lists.map(\.count) == [100, 1] && lists.flatMap(\.self) == (0..<101).map { "app\($0)" })
  }

  @Test("A device that is too large for a part is told of, with its place")
  func tooLarge() throws {
    let payload = String(repeating: "x", count: 5000)
    let device = #"{"udid":"p","apps":[{"topic":"a","message":{"payload":"\#(payload)"}}]}"#
    let error = #expect(throws: DocumentError.self) {
      try SavedStateParts(
        Array("{\"version\":1,\"devices\":[{\"udid\":\"o\"},\(device)]}".utf8),
        limits: .init(bytes: 4000, values: 1000, rows: 7, credentials: 1))
    }
    #expect(error?.description.hasPrefix("devices[1]: expected at most 4000 bytes") == true)
  }
}
