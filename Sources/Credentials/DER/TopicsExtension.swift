import Basics
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
      text(topic.name.name) + DER.value(DER.sequence, topic.kinds.flatMap(text))
    }
    return DER.value(DER.sequence, members)
  }

  private static func text(_ text: String) -> [UInt8] { DER.value(DER.text, Array(text.utf8)) }

  /// The topics in the value; nil unless it is well formed to the last byte and names at least one.
  ///
  /// A topic without kinds is taken, since readers in the wild look at the names alone.
  public static func decode(_ value: [UInt8]) -> [PushTopic]? {
    guard var members = DER.content(DER.sequence, of: value.span) else { return nil }
    var topics: [PushTopic] = []
    while !members.isEmpty {
      if let name = DER.take(DER.text, off: &members) {
        guard topics.count < maximumTopics, let name = Topic(name.text) else { return nil }
        topics.append(PushTopic(name: name, kinds: []))
      } else {
        guard let list = DER.take(DER.sequence, off: &members), let last = topics.indices.last,
          topics[last].kinds.isEmpty, let kinds = kinds(list)
        else { return nil }
        topics[last].kinds = kinds
      }
    }
    return topics.isEmpty ? nil : topics
  }

  private static func kinds(_ list: Span<UInt8>) -> [String]? {
    var (rest, kinds): (_, [String]) = (list, [])
    while !rest.isEmpty {
      guard kinds.count < maximumKinds, let kind = DER.take(DER.text, off: &rest) else { return nil }
      kinds.append(kind.text)
    }
    return kinds
  }
}
