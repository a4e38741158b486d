import PushModel

/// The topics of a push certificate, extension 1.2.840.113635.100.6.3.6
/// (`Documentation/provider-api.md#topics-extension`): a sequence in which each topic's name is followed by the
/// sequence of its kinds.
package enum TopicsExtension {
  /// Most topics read from one certificate; Apple allows a key 400 (`Documentation/provider-api.md#provider-tokens`).
  package static let maximumTopics = 1000
  /// Most kinds read for one topic; three are known.
  static let maximumKinds = 16

  /// The extension's value.
  package static func encode(_ topics: [PushTopic]) -> [UInt8] {
    DERWriter.sequence(
      of: topics.flatMap { topic in
        [
          DERWriter.utf8String(topic.name.name),
          DERWriter.sequence(of: topic.kinds.map(DERWriter.utf8String)),
        ]
      })
  }

  /// The topics in the value; nil unless it is well formed to the last byte and names at least one.
  ///
  /// A topic without kinds is taken, since readers in the wild look at the names alone.
  package static func decode(_ value: [UInt8]) -> [PushTopic]? {
    var outer = DERReader(value)
    guard let sequence = outer.next(), sequence.tag == DERTag.sequence, outer.isAtEnd else { return nil }
    var members = DERReader(sequence.content)
    var topics: [PushTopic] = []
    while let member = members.next() {
      switch member.tag {
      case DERTag.utf8String:
        guard topics.count < maximumTopics, let name = Topic(text(member)) else { return nil }
        topics.append(PushTopic(name: name, kinds: []))
      case DERTag.sequence:
        guard let last = topics.indices.last, topics[last].kinds.isEmpty, let kinds = kinds(member) else {
          return nil
        }
        topics[last].kinds = kinds
      default: return nil
      }
    }
    return members.isAtEnd && !topics.isEmpty ? topics : nil
  }

  private static func kinds(_ element: DERReader.Element) -> [String]? {
    var reader = DERReader(element.content)
    var kinds: [String] = []
    while let kind = reader.next() {
      guard kind.tag == DERTag.utf8String, kinds.count < maximumKinds else { return nil }
      kinds.append(text(kind))
    }
    return reader.isAtEnd ? kinds : nil
  }

  private static func text(_ element: DERReader.Element) -> String {
    String(decoding: element.content, as: UTF8.self)
  }
}
