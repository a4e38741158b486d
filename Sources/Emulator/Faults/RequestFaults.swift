import Faults
import Platform
import ProviderAPI
import PushModel
import Transport

/// Requests of HTTP providers as faults see them, over HTTP/2 and in plain HTTP.
extension FaultService {
  /// Where the token begins in the path.
  private static let devicePath = Array("/3/device/".utf8)
  /// The digits of what a magic token begins with.
  private static let magicDigits = Array(Hex.encode([MagicToken.mark]).utf8)

  /// As for a frame: whether any rule is about pushes, or the token begins as a magic one does.
  @inline(__always)
  func mayStrike(_ message: HTTPMessage) -> Bool {
    if engine.strikesPushes { return true }
    guard let path = message[.path], path.count == Self.devicePath.count + 2 * DeviceToken.byteCount else {
      return false
    }
    return path[Self.devicePath.count] == Self.magicDigits[0]
      && path[Self.devicePath.count + 1] == Self.magicDigits[1]
  }

  func decide(
    _ message: HTTPMessage, _ judged: JudgedRequest, _ place: FaultPlace, _ identity: ProviderIdentity,
    connection: SocketAddress
  ) -> FaultEngine.Decision? {
    var point = FaultPoint(.push, at: place)
    point.topic = judged.topic ?? message.text(.apnsTopic) ?? identity.impliedTopic
    point.priority = judged.priority ?? message.priority
    point.connection = connection.description
    return ProviderService.pathToken(message).withUnsafeBytes {
      point.token = $0
      return decide(point)
    }
  }
}

extension FaultEngine.Decision {
  /// The reason that an HTTP provider is told, if the fault is an answer.
  var rejection: Rejection? {
    effects.reason ?? effects.legacy.map { Rejection(legacyStatus: $0.status) }
  }

  /// The refusal of a request for a reason that is not in it.
  func refusal(_ judged: JudgedRequest, _ rejection: Rejection, now: Timestamp) -> RejectedRequest {
    RejectedRequest(
      rejection, messageID: judged.messageID, goneAt: rejection.status == 410 ? now : nil,
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
  fileprivate var priority: Priority? {
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
