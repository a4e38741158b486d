import PushModel
import Testing

import Credentials

@Suite("Provider key record")
struct ProviderKeyRecordTests {
  @Test("is read as it was written", arguments: [nil, "XYZ123ABCD"])
  func written(_ related: String?) throws {
    let topic = try #require(Topic("com.example.app"))
    let record = ProviderKeyRecord(
      keyId: "ABC123DEFG", teamId: "DEF123GHIJ", topics: [topic], environments: .both, relatedKeyId: related)
    #expect(ProviderKeyRecord(json: record.json) == record)
  }

  @Test("has ids of at most 64 bytes", arguments: [(64, true), (65, false)])
  func longestIds(_ count: Int, _ isTaken: Bool) {
    let id = String(repeating: "A", count: count)
    for record in [ProviderKeyRecord(keyId: id, teamId: "T"), ProviderKeyRecord(keyId: "K", teamId: id)] {
      #expect((ProviderKeyRecord(json: record.json) != nil) == isTaken)
    }
  }
}
