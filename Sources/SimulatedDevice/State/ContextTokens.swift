import CourierWire
import PushModel

/// A token that the phone wanted for one context of a topic.
public struct ContextToken: Equatable, Sendable {
  public let need: TokenNeed
  /// What the protocol calls the topic.
  let hash: TopicHash
  /// Nil until the service has given one.
  public internal(set) var token: DeviceToken?
  /// The phone has no use for it any more, and the service has not confirmed its end yet.
  public internal(set) var isOver: Bool

  public init(_ need: TokenNeed, token: DeviceToken? = nil, isOver: Bool = false) {
    (self.need, self.token, self.isOver) = (need, token, isOver)
    hash = TopicHash(need.topic)
  }
}

/// What becomes of contexts' tokens: pure changes of what a device remembers, with what is to be asked of the service.
extension DeviceState {
  /// Most that are remembered, as a count.
  static let maximumContexts = 1000

  /// The phone wants these and no others; answers what to ask.
  mutating func want(_ needs: [TokenNeed]) -> [AppTokenRequest] {
    var changed: [TokenNeed] = []
    for index in contexts.indices where contexts[index].isOver == needs.contains(contexts[index].need) {
      contexts[index].isOver.toggle()
      changed.append(contexts[index].need)
    }
    for need in needs where !contexts.contains(where: { $0.need == need }) {
      guard contexts.count < Self.maximumContexts else { break }
      contexts.append(ContextToken(need))
      changed.append(need)
    }
    return contexts.filter { changed.contains($0.need) }.map(request)
  }

  /// Asks for all of them, or for their end.
  var contextRequests: [AppTokenRequest] { contexts.map(request) }

  private func request(_ entry: ContextToken) -> AppTokenRequest {
    AppTokenRequest(
      baseToken: baseToken, topic: entry.hash, topicName: entry.need.topic,
      heldToken: entry.isOver ? nil : entry.token, context: entry.need.context, isOver: entry.isOver)
  }

  /// What an answer means.
  enum ContextAnswer {
    /// Things have changed since it was asked for; what counts now was asked for too.
    case outdated
    case token(TokenNeed, DeviceToken)
    case ended(TokenNeed)
    case refused(TokenNeed)
    /// The one it had is gone, as after a restore: it wants another.
    case askAgain(AppTokenRequest)
  }

  mutating func answered(_ response: AppTokenResponse, to request: AppTokenRequest, _ context: TokenContext)
    -> ContextAnswer
  {
    let index = contexts.firstIndex {
      $0.hash == request.topic && $0.need.context == context && $0.isOver == request.isOver
    }
    guard let index else { return .outdated }
    let need = contexts[index].need
    if request.isOver {
      contexts.remove(at: index)
      return .ended(need)
    }
    if let token = response.appToken {
      contexts[index].token = token
      return .token(need, token)
    }
    guard response.status == AppTokenResponse.statusRemoved, request.heldToken != nil else {
      return .refused(need)
    }
    contexts[index].token = nil
    return .askAgain(self.request(contexts[index]))
  }

  /// The apps with these topics are gone, and with them what was made for them.
  mutating func forgetContexts(of topics: [Topic]) { contexts.removeAll { $0.need.topic.isAny(of: topics) } }

  /// The apps with these topics are new: what is asked for again gets other tokens, the rest is no more.
  mutating func renewContexts(of topics: [Topic]) -> [AppTokenRequest] {
    contexts.removeAll { $0.need.topic.isAny(of: topics) && ($0.isOver || !$0.need.context.isAskedForAgain) }
    for index in contexts.indices where contexts[index].need.topic.isAny(of: topics) {
      contexts[index].token = nil
    }
    return contexts.filter { $0.need.topic.isAny(of: topics) }.map(request)
  }
}

extension Topic {
  fileprivate func isAny(of apps: [Topic]) -> Bool { apps.contains { belongs(toApp: $0) } }
}
