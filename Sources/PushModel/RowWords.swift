import Basics

// How the words of push look in the columns of rows.

extension RowKind<TopicID> {
  /// A topic's row is named after its place: there is one topic in it.
  public static var topicRow: RowKind {
    let row = RowKind<TopicID>.row
    return RowKind(row.shape, row.expected, read: row.read) { .integer(Int64($0.place)) }
  }
}

extension RowKind<Environment> {
  public static var environment: RowKind { .word("an environment") }
}

extension RowKind<Topic> {
  public static var topic: RowKind { .ofText("a topic", { Topic($0) }, { $0.name }) }
}

extension RowKind<TopicHash> {
  public static var topicHash: RowKind {
    .ofBytes(TopicHash.byteCount, "a topic's hash", { TopicHash(bytes: $0) }, { $0.bytes })
  }
}

extension RowKind<DeviceToken> {
  public static var token: RowKind {
    .ofBytes(DeviceToken.byteCount, "a token", { DeviceToken(bytes: $0) }, { $0.bytes })
  }
}

extension RowKind<CustomToken> {
  public static var customToken: RowKind {
    .ofBytes(nil, "a custom device token", { CustomToken(bytes: $0) }, { $0.bytes })
  }
}

extension RowKind<TokenContext> {
  public static var tokenContext: RowKind { .ofText("a token's context", { TokenContext($0) }, { $0.text }) }
}

extension RowKind<APNSID> {
  public static var apnsID: RowKind { .ofText("a UUID", { APNSID($0) }, { $0.description }) }
}

extension RowKind<UDID> {
  public static var udid: RowKind { .ofText("a UDID", { UDID($0) }, { $0.text }) }
}
