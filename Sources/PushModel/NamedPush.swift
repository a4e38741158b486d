import Basics

/// A push to an app on a phone by their names, where nobody says which token is meant, and of what type the push is.
public enum NamedPush {
  /// The place of the token that the payload is for, among those of the app's topic, oldest first; each by its context, nil for that
  /// of the whole topic. A start of a Live Activity goes to the token for its type of attributes, an update or end to that of the
  /// activity that was started last; what there is no such token for, and anything else, to the token of the whole topic. nil for none.
  public static func place(among contexts: [TokenContext?], for payload: [UInt8]) -> Int? {
    let aps = JSONReader.read(payload, maximumDepth: JSONText.maximumDepth)?.member("aps")
    let meant = contexts.lastIndex { context in
      switch (context, aps?.string("event")) {
      case (.start(let type)?, "start"?): type == aps?.string("attributes-type")
      case (.activity?, "update"?), (.activity?, "end"?): true
      default: false
      }
    }
    return meant ?? contexts.lastIndex { $0 == nil }
  }

  /// What the payload is, and the priority that has to be said with it: Apple refuses a background push that asks for more than 5
  /// (`Documentation/provider-api.md#push-types`).
  public static func manner(of payload: [UInt8], to topic: Topic) -> (type: PushType, priority: Priority?) {
    let type = PushType(forwarding: payload, to: topic.name)
    return (type, type == .background ? .conserving : nil)
  }
}
