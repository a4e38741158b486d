import COpenSSL
import PushModel

/// The topics of a push certificate, extension 1.2.840.113635.100.6.3.6
/// (`Documentation/provider-api.md#topics-extension`): a sequence in which each topic's name is followed by the
/// sequence of its kinds.
public enum TopicsExtension {
  /// Most topics read from one certificate; Apple allows a key 400 (`Documentation/provider-api.md#provider-tokens`).
  public static let maximumTopics = 1000
  /// Most kinds read for one topic; three are known.
  static let maximumKinds = 16

  /// The extension's value.
  public static func encode(_ topics: [PushTopic]) -> [UInt8] {
    let members = topics.flatMap { topic in
      text(topic.name.name) + DER.value(0x30, topic.kinds.flatMap(text))
    }
    return DER.value(0x30, members)
  }

  private static func text(_ text: String) -> [UInt8] { DER.value(0x0c, Array(text.utf8)) }

  /// The topics in the value; nil unless it is well formed to the last byte and names at least one.
  ///
  /// A topic without kinds is taken, since readers in the wild look at the names alone.
  public static func decode(_ value: [UInt8]) -> [PushTopic]? {
    guard let members = DER.members(of: value) else { return nil }
    var topics: [PushTopic] = []
    for member in members {
      switch member {
      case .text(let name):
        guard topics.count < maximumTopics, let name = Topic(name) else { return nil }
        topics.append(PushTopic(name: name, kinds: []))
      case .sequence(let list):
        guard let last = topics.indices.last, topics[last].kinds.isEmpty, let kinds = kinds(list) else {
          return nil
        }
        topics[last].kinds = kinds
      }
    }
    return topics.isEmpty ? nil : topics
  }

  private static func kinds(_ list: [UInt8]) -> [String]? {
    guard let members = DER.members(of: list), members.count <= maximumKinds else { return nil }
    let kinds = members.compactMap { if case .text(let kind) = $0 { kind } else { nil } }
    return kinds.count == members.count ? kinds : nil
  }
}

/// ASN.1 values in DER (X.690).
public enum DER {
  enum Member {
    case text(String)
    /// All its bytes, with its tag and length.
    case sequence([UInt8])
  }

  /// Any value: its tag's one octet, its length, its content.
  public static func value(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
    guard content.count >= 0x80 else { return [tag, UInt8(content.count)] + content }
    let length = withUnsafeBytes(of: content.count.bigEndian) { Array($0.drop { $0 == 0 }) }
    return [tag, 0x80 | UInt8(length.count)] + length + content
  }

  /// The members of a sequence that fills the bytes; nil unless it is DER and they are texts in UTF-8 and sequences.
  static func members(of sequence: [UInt8]) -> [Member]? {
    defer { OpenSSLError.clear() }
    return sequence.withUnsafeBufferPointer { bytes in
      var cursor = bytes.baseAddress
      guard let list = d2i_ASN1_SEQUENCE_ANY(nil, &cursor, bytes.count) else { return nil }
      defer { OPENSSL_sk_pop_free(list) { ASN1_TYPE_free($0?.assumingMemoryBound(to: ASN1_TYPE.self)) } }
      // OpenSSL reads BER; what it writes is DER.
      let written = MemoryBuffer.encoded { i2d_ASN1_SEQUENCE_ANY(list, $0) }
      guard written?.elementsEqual(bytes) == true else { return nil }
      let members = (0..<OPENSSL_sk_num(list)).compactMap { member(OPENSSL_sk_value(list, $0)) }
      return members.count == Int(OPENSSL_sk_num(list)) ? members : nil
    }
  }

  private static func member(_ pointer: UnsafeMutableRawPointer?) -> Member? {
    guard let value = pointer?.assumingMemoryBound(to: ASN1_TYPE.self).pointee,
      value.type == V_ASN1_UTF8STRING || value.type == V_ASN1_SEQUENCE
    else { return nil }
    let string = value.value.asn1_string
    let bytes = UnsafeBufferPointer(
      start: ASN1_STRING_get0_data(string), count: Int(ASN1_STRING_length(string)))
    return value.type == V_ASN1_SEQUENCE
      ? .sequence(Array(bytes)) : .text(String(decoding: bytes, as: UTF8.self))
  }
}
