import PushModel

/// The path is a prefix and one more part, which may be empty as far as this rule goes
/// (`Documentation/provider-api.md#order-of-checks` step 1).
struct PathPolicy: RequestPolicy {
  /// Of pushes to a device (`Documentation/provider-api.md#request`).
  static let device = PathPolicy(prefix: "/3/device/", rest: "<token>", rule: Rule.path)
  /// Of broadcasts (`Documentation/provider-api.md#broadcast`).
  static let broadcast = PathPolicy(
    prefix: "/4/broadcasts/apps/", rest: "<bundle id>", rule: Rule.broadcastPath)

  let prefix: StaticString
  let rest: String
  let rule: Phrase

  func matches(_ message: HTTPMessage) -> Bool { message[.path].map { $0.hasPrefix(prefix) } ?? false }

  func refusal(_ context: RequestContext) -> Refusal? {
    let path = context.message[.path]
    if let path, path.hasPrefix(prefix) {
      let tail = UnsafeRawBufferPointer(rebasing: path[prefix.utf8CodeUnitCount...])
      if !tail.contains(UInt8(ascii: "/")) {
        context.pathTail = tail
        return nil
      }
    }
    return Refusal(
      .badPath, rule: rule, expected: "\(prefix)\(rest)", got: .quoted(path))
  }
}
