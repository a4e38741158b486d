import Basics

/// What a push is about: a bundle id, with a suffix for some push types (`Documentation/provider-api.md#push-types`).
public struct Topic: Hashable, Sendable, CustomStringConvertible {
  /// The topic as providers write it.
  public let name: String

  /// Longest topic taken, in bytes. Bundle ids are limited to 155; the longest suffix adds 25.
  public static let maximumByteCount = 255

  /// Takes a non-empty name of visible ASCII without separators that certificates or paths could misread.
  public init?(_ name: String) {
    let bytes = name.utf8
    guard !bytes.isEmpty, bytes.count <= Self.maximumByteCount, bytes.allSatisfy(Self.isAllowed) else {
      return nil
    }
    self.name = name
  }

  public var description: String { name }

  /// The topic of the app that it is for, without the suffix that some push types have; and that type, nil for none.
  public var app: (topic: Topic, type: PushType?) {
    let type = PushType.allCases.first { !$0.topicSuffix.isEmpty && name.hasSuffix($0.topicSuffix) }
    guard let type,
      let topic = Topic(String(name.dropLast(type.topicSuffix.count)))
    else { return (self, nil) }
    return (topic, type)
  }

  /// The app's topic for pushes of a type.
  public func topic(for type: PushType) -> Topic? {
    type.topicSuffix.isEmpty ? self : Topic(name + type.topicSuffix)
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}

extension Topic {
  /// The topics that an app has besides its bundle id, this one: one for each suffix of a push type.
  public var suffixed: [Topic] { PushType.topicSuffixes.compactMap { Topic(name + $0) } }

  /// Whether it is one of those of the app with this bundle id: its token ends with the app
  /// (`Documentation/device-behaviour.md#tokens-and-push-types`).
  public func belongs(toApp bundle: Topic) -> Bool { self == bundle || app.topic == bundle }
}

/// SHA-1 over a topic's UTF-8: all that the device protocol carries of a topic
/// (`Documentation/device-protocol.md#filter`).
public struct TopicHash: Hashable, Sendable, BitwiseCopyable {
  /// Length of a SHA-1 digest, in bytes.
  public static let byteCount = 20

  public var head: UInt64
  public var middle: UInt64
  public var tail: UInt32

  /// Names nothing: what stands where none was read.
  public init() { (head, middle, tail) = (0, 0, 0) }

  /// Copies exactly 20 bytes; nil for any other count.
  @inlinable
  public init?(_ bytes: Span<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    head = bytes.native(UInt64.self, at: 0)
    middle = bytes.native(UInt64.self, at: 8)
    tail = bytes.native(UInt32.self, at: 16)
  }

  /// Copies exactly 20 bytes; nil for any other count.
  public init?(bytes: [UInt8]) { self.init(bytes.span) }

  /// Adds the 20 bytes to `output`, which must have room for them.
  @inlinable
  public func write(to output: inout OutputSpan<UInt8>) {
    output.append(native: head)
    output.append(native: middle)
    output.append(native: tail)
  }

  /// The 20 bytes as an array.
  public var bytes: [UInt8] { [UInt8](capacity: Self.byteCount) { write(to: &$0) } }

  /// Lower-case hexadecimal, 40 digits.
  public var hex: String { Hex.encode(bytes) }

  /// The SHA-1 over the UTF-8 of a topic's name (`Documentation/device-protocol.md#filter`).
  public init(_ topic: Topic) { self = TopicHash(bytes: Digests.sha1(Array(topic.name.utf8))) ?? TopicHash() }
}
