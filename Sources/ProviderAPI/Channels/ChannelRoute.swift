import Basics

/// What a channel management request asks for, by path and method (`Documentation/provider-api.md#channel-management`).
enum ChannelRoute: Equatable {
  case create, read, delete, list

  private static let prefix: StaticString = "/1/apps/"

  /// The route and the bundle id's bytes, or why there is none.
  static func find(
    method: Span<UInt8>?, path: Span<UInt8>?
  ) throws(Refusal) -> (ChannelRoute, bundle: [UInt8]) {
    guard let path, path.begins(with: prefix) else { throw badPath(path) }
    let tail = path.dropping(prefix.utf8CodeUnitCount)
    let slash = tail.place(of: UInt8(ascii: "/"))
    guard slash < tail.count else { throw badPath(path) }
    let collection = tail.dropping(slash + 1)
    let isList = collection.spells("all-channels")
    guard isList || collection.spells("channels") else { throw badPath(path) }
    guard let route = isList ? listRoute(method) : channelRoute(method) else {
      throw Refusal(
        .methodNotAllowed, rule: Rule.channelMethod, expected: isList ? "GET" : "POST, GET or DELETE",
        got: .quoted(method))
    }
    return (route, Array(tail.prefix(slash)))
  }

  private static func listRoute(_ method: Span<UInt8>?) -> ChannelRoute? {
    method.flatMap { $0.spells("GET") ? .list : nil }
  }

  private static func channelRoute(_ method: Span<UInt8>?) -> ChannelRoute? {
    guard let method else { return nil }
    if method.spells("POST") { return .create }
    if method.spells("GET") { return .read }
    return method.spells("DELETE") ? .delete : nil
  }

  private static func badPath(_ path: Span<UInt8>?) -> Refusal {
    Refusal(
      .badPath, rule: Rule.channelPath, expected: "/1/apps/<bundle id>/channels or …/all-channels",
      got: .quoted(path))
  }
}
