import Basics
import Broker
import ConsoleAnswers
import Phone
import Phones
import PushModel
import Transport

/// The phones of simulated devices, as people see and touch them.
package struct PhoneGroup: RouteGroup {
  private let phones: PhoneBoard
  private let registry: Registry
  private let makeTimer: MakeTimer

  package init(_ phones: PhoneBoard, _ registry: Registry, makeTimer: @escaping MakeTimer) {
    (self.phones, self.registry, self.makeTimer) = (phones, registry, makeTimer)
  }

  package var routes: [Route] {
    [
      .get(
        "/api/v1/devices/{udid}/phone", "The phone of a simulated device: its screens, apps and log",
        .answer(showPhone)
      )
      // What phones tell, and how they are ordered, is known where they are connected.
      .atLeader(of: .udid).refuses(409).answers(200, "The phone", PhoneRecord.shape.schema),
      .post(
        "/api/v1/devices/{udid}/phone/{verb}",
        "Does what a person can do to the phone. An offline phone takes only settings, which apply once it is online",
        .exchange(orderPhone)
      )
      .atLeader(of: .udid).takes(PhoneVerb.orders).refuses(409)
      .answers(200, "The events that followed", PhoneRecord.events.schema)
      .answers(202, "The phone is offline: the settings apply once it is online", PhoneQueue.answer.schema)
      .answers(504, "The phone has not answered", APIExamples.error(504)),
    ]
  }

  /// How long a phone may take to carry out an order, in nanoseconds: many times what it does.
  private static let timeout: Int64 = 5_000_000_000

  /// `GET /api/v1/devices/{udid}/phone`
  private func showPhone(_ request: ConsoleRequest) throws -> HTTPResponse {
    let udid = try knownUDID(request)
    if !phones.isConnected(udid), isOnline(udid) { throw foreign(udid) }
    guard let json = phones.json(udid) else {
      throw ConsoleError.conflict(
        "nothing is known of \(udid)'s phone: it has not been connected since the emulator started")
    }
    return HTTPResponse(json: json)
  }

  /// `POST /api/v1/devices/{udid}/phone/{verb}`: what a person does to a phone. Settings wait for one that is offline.
  private func orderPhone(_ request: ConsoleRequest, _ exchange: HTTPExchange) throws {
    let udid = try knownUDID(request)
    let body = try request.object().members
    let order = try checked(request.part("verb"), body, udid)
    guard phones.isConnected(udid) else {
      return try orderLater(request.part("verb"), body, udid, exchange)
    }
    guard phones.hasRoom(udid) else {
      throw ConsoleError.busy("\(udid) has too many orders to carry out; try again")
    }
    sendOrder(order, to: udid, exchange)
  }

  /// What the phone is told; throws for what it would not understand.
  private func checked(_ verb: String, _ body: [(String, JSONValue)], _ udid: UDID) throws -> JSONValue {
    let order = JSONValue.object([("do", .string(verb))] + body)
    guard order.encoded.count <= PhoneQueue.byteLimit else {
      throw ConsoleError(
        status: 413, code: "bodyTooLarge",
        message: "expected an order of at most \(PhoneQueue.byteLimit) bytes")
    }
    let read: PhoneOrder?
    do throws(PhoneOrderError) {
      read = try PhoneOrder(verb: verb, JSONObject(members: body))
    } catch {
      throw ConsoleError.badRequest("\(error)")
    }
    guard read != nil else {
      let verbs = PhoneVerb.all.map(\.name).joined(separator: ", ")
      throw ConsoleError.notFound("expected one of \(verbs), got \(verb)")
    }
    return order
  }

  private func orderLater(
    _ verb: String, _ body: [(String, JSONValue)], _ udid: UDID, _ exchange: HTTPExchange
  ) throws {
    guard !isOnline(udid) else { throw foreign(udid) }
    guard verb == "settings" else {
      throw ConsoleError.conflict("\(udid) is offline: connect it, or change only its settings")
    }
    guard phones.queue(.object(body), for: udid) else {
      throw ConsoleError.conflict(
        "\(udid) is offline: expected at most \(PhoneQueue.byteLimit) bytes of settings that wait for it, got more"
      )
    }
    exchange.answer(HTTPResponse(status: 202, json: PhoneQueue.answer.write(true)))
  }

  private func sendOrder(_ order: JSONValue, to udid: UDID, _ exchange: HTTPExchange) {
    var timer: AnyObject?
    let number = phones.order(order, to: udid) { answer in
      withExtendedLifetime(timer) { timer = nil }
      exchange.stopWaiting()
      exchange.answer(Self.response(answer, udid))
    }
    guard let number, exchange.isOpen else { return }
    timer = makeTimer(Self.timeout) {
      phones.withdraw(number)
      exchange.stopWaiting()
      exchange.answer(Self.unanswered(udid).response)
    }
    exchange.whenGone {
      timer = nil
      phones.withdraw(number)
    }
  }

  private static func response(_ answer: PhoneBoard.Answer, _ udid: UDID) -> HTTPResponse {
    switch answer {
    case .done(let events): HTTPResponse(json: ["events": events])
    case .refused(let sentence): ConsoleError.badRequest(sentence).response
    case .gone:
      ConsoleError.conflict("\(udid) went offline before it confirmed the order").response
    }
  }

  private static func unanswered(_ udid: UDID) -> ConsoleError {
    ConsoleError(
      status: 504, code: "timeout",
      message: "\(udid) did not confirm the order within \(timeout / 1_000_000_000) s")
  }

  /// The device that the path names, if it has been seen.
  private func knownUDID(_ request: ConsoleRequest) throws -> UDID {
    let udid = try request.udid()
    _ = try registry.seenDevice(udid)
    return udid
  }

  private func isOnline(_ udid: UDID) -> Bool {
    registry.knownDevice(udid).map { registry[$0].isOnline } ?? false
  }

  private func foreign(_ udid: UDID) -> ConsoleError {
    .conflict(
      "\(udid) is connected with a client that has no phone; a device of `apns-emulator device` has one"
    )
  }
}

extension PhoneVerb {
  /// What any of them takes. What stands deeper is the phone's own, and told in `Documentation/console-api.md#the-phone`.
  static var orders: JSONSchema {
    JSONSchema("PhoneOrder", ["anyOf": .array(all.map(\.order))], example: ["lowPower": true])
  }

  /// The members that go with it.
  private var order: JSONValue {
    guard case .object(let members) = schema else { return schema }
    return .object([("description", .string("\(name): \(summary)"))] + members)
  }
}
