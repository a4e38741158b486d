import Basics
import Faults
import Platform
import ProviderAPI
import PushModel
import Services
import Transport

/// Requests of HTTP providers as faults see them, over HTTP/2 and in plain HTTP.
extension FaultService {
  /// Where the token begins in the path.
  private static let devicePath: StaticString = "/3/device/"
  /// The digits of what a magic token begins with.
  private static let magicDigits = Array(Hex.encode([MagicToken.mark]).utf8)

  /// As for a frame: whether any rule is about pushes, or the token (of a broadcast: the channel id) begins as a magic one
  /// does.
  private func mayInject(_ message: HTTPMessage) -> Bool {
    if engine.injectsIntoPushes { return true }
    let start = Self.devicePath.utf8CodeUnitCount
    guard let path = message[.path], path.count > start + 1 else { return false }
    guard path[1] == UInt8(ascii: "3") else { return Self.isMagic(message[.apnsChannelId]) }
    return path.count == start + 2 * DeviceToken.byteCount && path[start] == Self.magicDigits[0]
      && path[start + 1] == Self.magicDigits[1]
  }

  /// The fault to inject into a request, if any.
  func decide(
    _ message: HTTPMessage, _ judged: JudgedRequest, _ place: FaultPlace, _ identity: ProviderIdentity,
    connection: SocketAddress?
  ) -> FaultEngine.Decision? {
    guard mayInject(message) else { return nil }
    var point = FaultPoint(.push, at: place)
    point.topic = judged.topic ?? message.text(.apnsTopic) ?? identity.impliedTopic
    point.priority = judged.priority ?? message.priority
    point.connection = connection?.description
    if case .broadcast = judged { point.word = message.text(.apnsChannelId) }
    point.token = message.pathToken
    return decide(point)
  }
}

/// Channel management as faults see it: no token, no priority; the topic is the bundle id of the path.
extension FaultService {
  private static let appsPath: StaticString = "/1/apps/"

  /// The fault to inject into a request, if any. A magic word may stand for the channel id or for the bundle id, as
  /// neither begins with an exclamation mark.
  func decide(_ message: HTTPMessage, at place: FaultPlace, connection: SocketAddress) -> FaultEngine
    .Decision?
  {
    let bundle = Self.bundle(message[.path])
    guard engine.injectsIntoPushes || Self.isMagic(bundle) || Self.isMagic(message[.apnsChannelId]) else {
      return nil
    }
    var point = FaultPoint(.push, at: place)
    point.topic = bundle.flatMap { $0.text }
    point.connection = connection.description
    point.word = [message.text(.apnsChannelId), point.topic].compactMap(\.self).first {
      $0.utf8.first == MagicToken.mark
    }
    return decide(point)
  }

  @_lifetime(copy path)
  private static func bundle(_ path: Span<UInt8>?) -> Span<UInt8>? {
    guard let path, path.begins(with: appsPath) else { return nil }
    let tail = path.dropping(appsPath.utf8CodeUnitCount)
    return tail.prefix(tail.place(of: UInt8(ascii: "/")))
  }

  private static func isMagic(_ word: Span<UInt8>?) -> Bool { word?.first == MagicToken.mark }
}

extension FaultEngine.Decision {
  /// The refusal of a request for a reason that is not in it.
  func refusal(_ apnsID: APNSID, _ rejection: Rejection, now: Timestamp) -> RejectedRequest {
    RejectedRequest(
      rejection, apnsID: apnsID, goneAt: rejection.status == 410 ? now : nil,
      explanation: words)
  }
}

extension JudgedRequest {
  fileprivate var topic: String? {
    switch self {
    case .push(.accepted(let accepted)): accepted.topic.name
    case .broadcast(.accepted(let accepted)): accepted.bundle.name
    default: nil
    }
  }

  fileprivate var priority: Priority? {
    switch self {
    case .push(.accepted(let accepted)): accepted.priority
    case .broadcast(.accepted(let accepted)): accepted.priority
    default: nil
    }
  }

  /// Whether nothing but the token stands against a push: a magic one that asks for no refusal is taken then.
  var lacksOnlyToken: Bool {
    if case .push(.rejected(let rejected)) = self { return rejected.rejection == .badDeviceToken }
    return false
  }
}

extension HTTPMessage {
  /// As the field says, else the highest.
  var priority: Priority? {
    guard let text = text(.apnsPriority) else { return .immediate }
    return UInt8(text).flatMap(Priority.init(rawValue:))
  }
}

extension ProviderIdentity {
  fileprivate var impliedTopic: String? {
    if case .certificate(let certificate) = self { return certificate.impliedTopic?.name }
    return nil
  }
}
