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
}
