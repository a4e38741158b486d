import PushModel

/// The path is a prefix and one more part, which may be empty as far as this rule goes (D.6 step 1).
struct PathPolicy: RequestPolicy {
  /// Of pushes to a device (D.2).
  static let device = PathPolicy(prefix: "/3/device/", rest: "<token>", rule: Rule.path)
  /// Of broadcasts (F.2).
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
