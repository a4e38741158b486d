import PushModel

/// Pushes from before a restart. Their connections are gone, and with them the windows that kept two of one token from
/// overtaking each other: here they go one at a time for each token.
struct RestoredPushes {
  private var behind: [[UInt8]: ArraySlice<ForwardPush>] = [:]

  /// Those that wait for others of their token, as a count.
  private(set) var count = 0

  /// Answers the push if it may begin at once.
  mutating func add(_ push: ForwardPush) -> ForwardPush? {
    guard behind[push.token] != nil else {
      behind[push.token] = []
      return push
    }
    behind[push.token]?.append(push)
    count += 1
    return nil
  }

  /// One has ended; answers the next of its token.
  mutating func next(after push: ForwardPush) -> ForwardPush? {
    guard let next = behind[push.token]?.popFirst() else {
      behind[push.token] = nil
      return nil
    }
    count -= 1
    return next
  }

  /// Whether any for the token have not ended.
  func holds(_ token: UnsafeRawBufferPointer?) -> Bool {
    guard !behind.isEmpty, let token else { return false }
    return behind[Array(token)] != nil
  }
}
