import PushModel
import Testing

@testable import Capture

@Suite("Base64 of captures")
struct FastBase64Tests {
  private static func encode(_ bytes: [UInt8]) -> String {
    var output = [UInt8](repeating: 0, count: bytes.count * 2 + 16)
    let count = bytes.withUnsafeBytes { input in
      output.withUnsafeMutableBytes { FastBase64.encode(input, to: $0.baseAddress.unsafelyUnwrapped) }
    }
    return String(decoding: output.prefix(count), as: UTF8.self)
  }

  private static func decode(_ text: String) -> [UInt8]? {
    var output = [UInt8](repeating: 0, count: text.utf8.count + 16)
    let count = Array(text.utf8).withUnsafeBytes { input in
      output.withUnsafeMutableBytes { FastBase64.decode(input, to: $0.baseAddress.unsafelyUnwrapped) }
    }
    return count.map { Array(output.prefix($0)) }
  }

  @Test("it is the base64 that everybody else writes, at every length", arguments: 0..<70)
  func everyLength(count: Int) {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 151 &+ 7) }
    #expect(Self.encode(bytes) == PushModel.Base64.encode(bytes))
    #expect(Self.decode(PushModel.Base64.encode(bytes)) == bytes)
  }

  @Test("known texts of RFC 4648 10")
  func vectors() {
    for (plain, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
      #expect(Self.encode(Array(plain.utf8)) == text)
      #expect(Self.decode(text) == Array(plain.utf8))
    }
  }

  @Test(
    "what is no padded base64 is refused",
    arguments: ["Zg", "Zg=", "Z===", "====", "Zm9v!A==", "Zm9vZh==", "Zm=v", "Zm 9v123", "Zm9v\u{e9}AAA"])
  func foreign(text: String) { #expect(Self.decode(text) == nil) }
}
