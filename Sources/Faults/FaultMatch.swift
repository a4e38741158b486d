import Basics
import PushModel

/// A listener, as rules name it.
public enum FaultPlace: String, Sendable, CaseIterable {
  case gateway, feedback, provider, console, courier

  /// Whether clients may speak HTTP/2 there: pushes, or channel management.
  var mayHaveStreams: Bool { self == .provider || self == .gateway || self == .feedback }
}

/// One moment at which a fault may be injected: what rules are compared with.
public struct FaultPoint {
  public var stage: FaultStage
  public var place: FaultPlace
  public var topic: String?
  /// The device token as presented.
  public var token: [UInt8] = []
  /// What may be a magic word in another place than the token: the name of a channel.
  public var word: String?
  public var priority: Priority?
  /// The client's address, `host:port`.
  public var connection: String?

  public init(_ stage: FaultStage, at place: FaultPlace) { (self.stage, self.place) = (stage, place) }
}

/// Which moments a rule matches: everything that is named must be so.
public struct FaultMatch: Equatable, JSONDocument {
  public var place: FaultPlace?
  public var topic: String?
  public var token: [UInt8]?
  public var priority: Priority?
  public var connection: String?

  public init() {}

  public static let form = JSONForm<FaultMatch>([
    JSONField("interface", .word, \.place), JSONField("topic", .text, \.topic),
    JSONField("token", .hex("hexadecimal digits", nil), \.token),
    JSONField("priority", .priority, \.priority),
    JSONField("connection", .text, \.connection),
  ])

  public func matches(_ point: FaultPoint) -> Bool {
    (place == nil || place == point.place) && (topic == nil || topic == point.topic)
      && (priority == nil || priority == point.priority)
      && (connection == nil || connection == point.connection)
      && (token == nil || token == point.token)
  }

  /// Refuses what is true of no moment of its kind: such a rule would never match, and nobody would see why.
  func check(for stage: FaultStage, _ effects: FaultEffects, place path: String) throws(DocumentError) {
    let isApart = (place == .courier) != (stage == .delivery)
    if let place, stage != .connection, isApart {
      let expected =
        stage == .delivery
        ? "courier, where messages are handed to devices" : "an interface of providers for these effects"
      throw DocumentError("\(path).interface", expected: expected, got: .string(place.rawValue))
    }
    guard stage == .connection else { return }
    if let place, effects.needsStreams, !place.mayHaveStreams {
      throw DocumentError(
        "\(path).interface", expected: "provider, gateway or feedback, where clients speak HTTP/2",
        got: .string(place.rawValue))
    }
    let named = [("topic", topic != nil), ("token", token != nil), ("priority", priority != nil)]
    if let (name, _) = named.first(where: \.1) {
      throw DocumentError("\(path).\(name): expected none, as a new connection has no \(name) yet, got one")
    }
  }
}
