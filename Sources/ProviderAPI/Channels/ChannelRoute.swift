import Basics

/// What a channel management request asks for, by path and method (`Documentation/provider-api.md#channel-management`).
enum ChannelRoute: Equatable {
  case create, read, delete, list

  private static let prefix: StaticString = "/1/apps/"

  /// The route and the bundle id's bytes, or why there is none.
  static func find(
    method: UnsafeRawBufferPointer?, path: UnsafeRawBufferPointer?
  ) throws(Refusal) -> (ChannelRoute, bundle: UnsafeRawBufferPointer) {
    guard let path, path.hasPrefix(prefix) else { throw badPath(path) }
    let tail = UnsafeRawBufferPointer(rebasing: path[prefix.utf8CodeUnitCount...])
    guard let slash = tail.firstIndex(of: UInt8(ascii: "/")) else { throw badPath(path) }
    let collection = UnsafeRawBufferPointer(rebasing: tail[(slash + 1)...])
    let isList = collection.spells("all-channels")
    guard isList || collection.spells("channels") else { throw badPath(path) }
    guard let route = isList ? listRoute(method) : channelRoute(method) else {
      throw Refusal(
        .methodNotAllowed, rule: Rule.channelMethod, expected: isList ? "GET" : "POST, GET or DELETE",
        got: .quoted(method))
    }
    return (route, UnsafeRawBufferPointer(rebasing: tail[..<slash]))
  }

  private static func listRoute(_ method: UnsafeRawBufferPointer?) -> ChannelRoute? {
    method.spells("GET") ? .list : nil
  }

  private static func channelRoute(_ method: UnsafeRawBufferPointer?) -> ChannelRoute? {
    if method.spells("POST") { return .create }
    if method.spells("GET") { return .read }
    return method.spells("DELETE") ? .delete : nil
  }

  private static func badPath(_ path: UnsafeRawBufferPointer?) -> Refusal {
    Refusal(
      .badPath, rule: Rule.channelPath, expected: "/1/apps/<bundle id>/channels or …/all-channels",
      got: .quoted(path))
  }
}
