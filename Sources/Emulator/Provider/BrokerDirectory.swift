import Basics
import Broker
import Faults
import Platform
import ProviderAPI
import PushModel

/// The token map as the provider checks see it.
final class BrokerDirectory: DeviceDirectory {
  private let broker: Broker
  private let hasFloodLimit: Bool
  private var floods: FloodGate<DeviceToken>
  private let others: (any OtherNodes)?

  init(broker: Broker, options: ProviderOptions, others: (any OtherNodes)?) {
    (self.broker, self.others) = (broker, others)
    hasFloodLimit = options.floodLimit != nil
    floods = FloodGate(limit: options.floodLimit)
  }

  func handle(of topic: Topic) -> TopicID? { broker.registry.topic(named: topic) }

  func isCurrent(_ handle: TopicID) -> Bool { broker.registry.contains(handle) }

  func standing(
    of token: DeviceToken, topic: TopicID?, environment: Environment, now: Timestamp
  ) -> DeviceTokenStanding {
    broker.routing.standing(of: token, topic: topic, environment: environment, now: now)
  }

  func name(of topic: TopicID) -> String { broker.registry[topic].label }

  func token(spelled digits: Span<UInt8>) -> DeviceToken? {
    guard broker.options.adoptsTokens || broker.registry.hasOtherLengths, let token = custom(digits) else {
      return nil
    }
    let name = broker.registry.name(of: token)
    return broker.options.adoptsTokens || broker.registry.find(name) != nil ? name : nil
  }

  /// The broker registers it when it is submitted.
  func problem(
    ofUnknown token: DeviceToken, spelled digits: Span<UInt8>, topic: TopicID?, team: String?
  ) -> Phrase? {
    if others?.decide(onUnknown: token) == true { return nil }
    // A magic token asks for something to go wrong, and is nobody's.
    guard broker.options.adoptsTokens, let custom = custom(digits),
      MagicToken.read(custom.bytes) == nil
    else { return MagicToken.neverIssued(Hex.decode(digits: digits) ?? []) }
    guard broker.apps.hasRoomForUnknown() else {
      let limit = broker.registry.customLimit
      return
        "one that was never issued; only \(limit) tokens are registered at their first push"
    }
    if let topic, let team, !broker.registry.mayUse(topic, team: team) {
      let limit = broker.registry.topicsPerTeam
      return "one that was never issued; a team may register only \(limit) topics at a first push"
    }
    return nil
  }

  private func custom(_ digits: Span<UInt8>) -> CustomToken? {
    guard digits.count <= 2 * Limits.longestToken else { return nil }
    return Hex.decode(digits: digits).flatMap { CustomToken(bytes: $0) }
  }

  func isFlooded(_ token: DeviceToken) -> Bool { hasFloodLimit && floods.isOver(token, SystemClock.now()) }
}

/// Counts pushes to each device token (or broadcasts to each channel) within a second; off unless the operator gives a limit
/// (`Documentation/provider-api.md#open-questions`).
package struct FloodGate<Target: Hashable> {
  /// Most targets counted at once; the count starts over when there are more.
  private static var targetLimit: Int { 100_000 }
  private static var window: Int64 { 1_000_000_000 }

  let limit: Int?
  private var counts: [Target: Int] = [:]
  private var began = Instant.distantPast

  package init(limit: Int?) { self.limit = limit }

  package mutating func isOver(_ target: Target, _ now: @autoclosure () -> Instant) -> Bool {
    guard let limit else { return false }
    let now = now()
    if now > began.adding(nanoseconds: Self.window) || counts.count >= Self.targetLimit {
      counts.removeAll(keepingCapacity: true)
      began = now
    }
    counts[target, default: 0] += 1
    return counts[target, default: 0] > limit
  }
}
