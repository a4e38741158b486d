import PushModel
import Transport

/// Decides about a push as the mock of Fleet's load test does (`Documentation/mdm.md#fleets-load-test`). Pure.
struct FleetMDMCheck {
  /// How long a push waits that does not say, in seconds.
  static let standardSeconds: Int64 = 86_400

  /// A push that can be taken.
  struct Push: Equatable {
    var token: CustomToken
    /// The request's own; nil if it has none.
    var apnsID: APNSID?
    /// UNIX seconds; 0 for now or never.
    var expiration: UInt32
  }

  /// The token of a path or a query.
  static func token(_ hex: String?) throws(FleetMDMRefusal) -> CustomToken {
    guard let hex, !hex.isEmpty else { throw FleetMDMRefusal(.missingDeviceToken) }
    guard let token = CustomToken(hex: hex) else { throw FleetMDMRefusal(.badDeviceToken) }
    return token
  }

  /// What the request asks for.
  static func judge(_ request: HTTPRequest, hex: String, now: Timestamp) throws(FleetMDMRefusal) -> Push {
    let token = try token(hex)
    let field = { (field: ProviderField) in request.field("\(field.name)") }
    let id = field(.apnsId).flatMap { APNSID($0) }
    guard field(.apnsId) == nil || id != nil else { throw FleetMDMRefusal(.badMessageId) }
    guard field(.apnsPushType) ?? PushType.mdm.name == PushType.mdm.name else {
      throw FleetMDMRefusal(.invalidPushType)
    }
    let expiration = try expiration(field(.apnsExpiration), now)
    guard !request.body.isEmpty else { throw FleetMDMRefusal(.payloadEmpty) }
    guard request.body.count <= Limits.providerPayload else { throw FleetMDMRefusal(.payloadTooLarge) }
    return Push(token: token, apnsID: id, expiration: expiration)
  }

  private static func expiration(_ text: String?, _ now: Timestamp) throws(FleetMDMRefusal) -> UInt32 {
    guard let text else { return UInt32(clamping: now.seconds + standardSeconds) }
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let seconds = Int64(text)
    else { throw FleetMDMRefusal(.badExpirationDate) }
    return UInt32(clamping: seconds)
  }
}

/// Why a request is refused.
struct FleetMDMRefusal: Error, Equatable {
  let rejection: Rejection

  init(_ rejection: Rejection) { self.rejection = rejection }
}
