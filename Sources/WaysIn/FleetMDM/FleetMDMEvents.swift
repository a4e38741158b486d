import Basics
import Broker
import Console
import Platform
import ProviderAPI
import PushModel
import Services
import Transport

/// `--fleet-events`: Fleet's server pushes here, and Fleet's simulated devices read here, each token a device of its own whose
/// connection is a stream (`Documentation/mdm.md#fleets-load-test`).
package final class FleetMDMEvents: FleetMDMService {
  /// The app of tokens that come up here.
  private static let topic = "com.apple.mgmt.External.fleet-events"

  private let broker: Broker
  private let clock: EmulatorClock
  private let streams: StreamService
  private let environment: Environment
  private let apnsIDs: APNSIDGenerator
  /// Whether the emulator is going.
  private let isEnding: () -> Bool

  package init(
    _ broker: Broker, _ clock: EmulatorClock, _ streams: StreamService, _ environment: Environment,
    apnsIDs: APNSIDGenerator, isEnding: @escaping () -> Bool
  ) {
    (self.broker, self.clock, self.streams) = (broker, clock, streams)
    (self.environment, self.apnsIDs, self.isEnding) = (environment, apnsIDs, isEnding)
  }

  package func push(_ request: HTTPRequest, hex: String) -> HTTPResponse {
    broker.noteRead()
    let now = clock.now()
    do throws(FleetMDMRefusal) {
      guard !isEnding() else { throw FleetMDMRefusal(.serviceUnavailable) }
      return try take(FleetMDMCheck.judge(request, hex: hex, now: now), request.body, now)
    } catch {
      return Self.refusal(error.rejection)
    }
  }

  private func take(_ push: FleetMDMCheck.Push, _ body: [UInt8], _ now: Timestamp) throws(FleetMDMRefusal)
    -> HTTPResponse
  {
    let row = try row(of: push.token, now)
    let id = push.apnsID ?? apnsIDs.next()
    let registration = broker.registry[row]
    let token = push.token.bytes
    var submission = PlainSubmission(
      interface: .console, topic: registration.topic, environment: registration.environment,
      token: token.span,
      payload: body.span)
    (submission.apnsID, submission.pushType) = (id, .mdm)
    (submission.expiration, submission.registration) = (push.expiration, row)
    let result = broker.routing.submit(submission, detail: nil, now: now)
    if let rejection = result.rejection { return Self.refusal(rejection, goneAt: result.goneAt, id) }
    return HTTPResponse(status: 200, fields: [HTTPField("apns-id", id.description)])
  }

  /// Registered if it is nobody's; throws when there are too many.
  private func row(of token: CustomToken, _ now: Timestamp) throws(FleetMDMRefusal) -> RegistrationID {
    if let row = broker.registry.find(token) { return row }
    guard let topic = Topic(Self.topic).flatMap(broker.registry.topic(named:)),
      let row = broker.apps.adoptUnknown(token, topic: topic, environment: environment, now: now)
    else { throw FleetMDMRefusal(.serviceUnavailable) }
    return row
  }

  package func open(hex: String?, _ exchange: HTTPExchange) {
    do {
      let registration = broker.registry[try row(of: FleetMDMCheck.token(hex), clock.now())]
      var order = DeviceStreamOrder(
        udid: broker.registry[registration.device].udid, environment: registration.environment)
      order.topics = broker.registry[registration.topic].name.map { [$0] } ?? []
      try streams.open(order, .fleet, exchange)
    } catch {
      let refusal = error as? FleetMDMRefusal ?? FleetMDMRefusal(.serviceUnavailable)
      exchange.respond(Self.refusal(refusal.rejection))
    }
  }

  /// There is one node, which is the cluster.
  package var stats: JSONValue {
    let totals = broker.counters
    let numbers: JSONValue = .object(
      [
        ("active_connections", UInt64(streams.count)), ("total_pushes", totals.accepted),
        ("delivered_live", streams.freshCount), ("delivered_on_connect", streams.keptCount),
        ("stored", totals.stored), ("coalesced", totals.replaced), ("expired", totals.expired),
      ].map { ($0.0, .integer(Int64(clamping: $0.1))) })
    return ["node": numbers, "cluster": numbers]
  }

  private static func refusal(_ rejection: Rejection, goneAt: Timestamp? = nil, _ id: APNSID? = nil)
    -> HTTPResponse
  {
    HTTPResponse(
      status: rejection.status,
      fields: [HTTPField("content-type", "application/json")]
        + (id.map { [HTTPField("apns-id", $0.description)] } ?? []),
      body: ErrorBody.bytes(rejection, goneAt: goneAt))
  }
}

/// Decides about a push as the mock of Fleet's load test does (`Documentation/mdm.md#fleets-load-test`). Pure.
package struct FleetMDMCheck {
  /// How long a push waits that does not say, in seconds.
  static let standardSeconds: Int64 = 86_400

  /// A push that can be taken.
  package struct Push: Equatable {
    package var token: CustomToken
    /// The request's own; nil if it has none.
    package var apnsID: APNSID?
    /// UNIX seconds; 0 for now or never.
    package var expiration: UInt32
  }

  /// The token of a path or a query.
  package static func token(_ hex: String?) throws(FleetMDMRefusal) -> CustomToken {
    guard let hex, !hex.isEmpty else { throw FleetMDMRefusal(.missingDeviceToken) }
    guard let token = CustomToken(hex: hex) else { throw FleetMDMRefusal(.badDeviceToken) }
    return token
  }

  /// What the request asks for.
  package static func judge(_ request: HTTPRequest, hex: String, now: Timestamp) throws(FleetMDMRefusal)
    -> Push
  {
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
package struct FleetMDMRefusal: Error, Equatable {
  package let rejection: Rejection

  package init(_ rejection: Rejection) { self.rejection = rejection }
}
