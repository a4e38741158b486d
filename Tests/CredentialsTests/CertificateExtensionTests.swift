import Basics
import Testing

import Credentials

/// Expected bytes: `Documentation/provider-api.md#topics-extension`.
@Suite("Certificate extensions")
struct CertificateExtensionTests {
  static let topicsValue = """
    30 64
       0c 0f 636f6d2e6578616d706c652e617070
       30 05  0c 03 617070
       0c 14 636f6d2e6578616d706c652e6170702e766f6970
       30 06  0c 04 766f6970
       0c 1c 636f6d2e6578616d706c652e6170702e636f6d706c69636174696f6e
       30 0e  0c 0c 636f6d706c69636174696f6e
    """

  @Test("the development and production marks are Apple's bytes")
  func environments() throws {
    let sandbox = try signed(.push(.sandbox))
    let production = try signed(.push(.production))
    let marks = try [1, 2].map { try bytes("3010 060a2a864886f763640603 0\($0) 0402 0500") }
    #expect(sandbox.contains(marks[0]) && !sandbox.contains(marks[1]))
    #expect(production.contains(marks[1]) && !production.contains(marks[0]))
  }

  /// A certificate that has the extension.
  private func signed(_ part: CertificateExtension) throws -> [UInt8] {
    try TestCertificate.made(commonName: "x", uid: nil, extensions: [part]).certificate.der
  }

  @Test("one bundle id in a universal certificate is listed as app, VoIP and complication, byte for byte")
  func topics() throws {
    let listed = PushTopic.listed(for: [try topic("com.example.app")], isUniversal: true)
    let value = try bytes(Self.topicsValue)
    #expect(value.count == 102)
    #expect(TopicsExtension.encode(listed) == value)
    #expect(TopicsExtension.decode(value) == listed)
    #expect(try signed(.topics(listed)).contains(bytes("3074 060a2a864886f76364060306 0466") + value))
  }

  @Test("several topics are listed as they were given, each with the kind of its suffix")
  func severalTopics() throws {
    let names = ["com.example.a", "com.example.b.voip", "com.example.c.complication"]
    let listed = PushTopic.listed(for: try names.map(topic), isUniversal: true)
    #expect(listed.map(\.name.name) == names)
    #expect(listed.map(\.kinds) == [["app"], ["voip"], ["complication"]])
  }

  @Test("a topics extension cut at any length is refused, never a trap")
  func truncations() throws {
    let value = try bytes(Self.topicsValue)
    for count in 0..<value.count { #expect(TopicsExtension.decode(Array(value.prefix(count))) == nil) }
  }

  @Test("any single changed byte is read or refused, never a trap")
  func mutations() throws {
    let value = try bytes(Self.topicsValue)
    for index in value.indices {
      for replacement in [0x00, 0x0c, 0x30, 0x7f, 0x80, 0x84, 0xff] as [UInt8] {
        var changed = value
        changed[index] = replacement
        if let topics = TopicsExtension.decode(changed) { #expect(!topics.isEmpty) }
      }
    }
  }

  @Test(
    "malformed topics extensions are refused",
    arguments: [
      "", "0500", "3000", "3002 0500", "3004 3002 0c00", "3080 0c01 61 0000", "30 84ffffffff 0c0161",
      "3003 0c01 20", "30 8105 0c03 616263", "3005 0c03 616263 00", "3006 0c01 61 3003 02 01 01",
    ])
  func malformed(_ hex: String) throws {
    #expect(TopicsExtension.decode(try bytes(hex)) == nil)
  }

  @Test(
    "lengths take as few octets as they can: X.690, 8.1.3 and 10.1",
    arguments: [
      (0x7f, "04 7f"), (0x80, "04 81 80"), (0xff, "04 81 ff"), (0x100, "04 82 0100"),
      (0x1_0000, "04 83 010000"),
    ])
  func lengths(_ count: Int, _ head: String) throws {
    let content = [UInt8](repeating: 0x5a, count: count)
    #expect(DER.value(0x04, content) == (try bytes(head)) + content)
  }

  @Test("a length of 128 takes two octets; the octet 80 alone is the indefinite form, which is no DER")
  func longForm() throws {
    let name = String(repeating: "a", count: 126)
    let member = try bytes("0c 7e") + Array(name.utf8)
    #expect(TopicsExtension.decode(try bytes("30 8180") + member)?.map(\.name.name) == [name])
    #expect(TopicsExtension.decode(try bytes("30 80") + member) == nil)
  }

  @Test("a list may have 1000 topics, each of 16 kinds, and no more")
  func tooMany() throws {
    let name = PushTopic(name: try topic("a"), kinds: [])
    let most = [PushTopic](repeating: name, count: 1000)
    #expect(TopicsExtension.decode(TopicsExtension.encode(most))?.count == most.count)
    #expect(TopicsExtension.decode(TopicsExtension.encode(most + [name])) == nil)
    for (count, isTaken) in [(16, true), (17, false)] {
      let kinds = [PushTopic(name: name.name, kinds: [String](repeating: "app", count: count))]
      #expect(TopicsExtension.decode(TopicsExtension.encode(kinds)) == (isTaken ? kinds : nil))
    }
  }
}
