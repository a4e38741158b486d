import Basics
import Broker
import Console
import ConsoleAnswers
import PushModel
import TestSupport
import Testing
import Transport

/// What groups of routes are made with, and asked, where there is neither a console nor an emulator.
final class GroupLab {
  let broker = Broker(derivation: FakeDerivation())
  let clock = LabClock()
  let timers = LabTimers()
  let slices: SliceScheduler
  let events: OwnEvents

  init() {
    slices = SliceScheduler { [timers] in timers.make($0, $1) }
    events = OwnEvents(broker, now: clock.now)
  }

  /// Makes a phone with the app known.
  func install(_ udid: String = "phone", _ app: String = ConsoleLab.app) throws {
    let (udid, app) = (try #require(UDID(udid)), try #require(Topic(app)))
    let device = try #require(broker.registry.device(udid, now: clock.now()))
    let topic = try #require(broker.registry.topic(named: app))
    let token = broker.apps.change(
      .install, device: device, topic: topic, environment: .sandbox, now: clock.now())
    try #require(token != nil)
  }

  /// What the group's own route answers, over as many turns as it takes.
  func ask(_ group: some RouteGroup, _ method: String, _ target: String, json: String = "") throws
    -> HTTPResponse
  {
    let request = try #require(HTTPRequest(method, target, body: Array(json.utf8)))
    let matching = group.routes.compactMap { route in
      route.pattern.match(request.segments).map { (route, $0) }
    }
    let (route, captures) = try #require(matching.first { $0.0.matches(request) })
    let call = ConsoleRequest(
      http: request, captures: captures, now: clock.now(), bodyLimit: route.bodyLimit)
    let answer = Answer()
    let exchange = HTTPExchange(request, outlet: answer)
    answer.exchange = exchange
    exchange.refusing { try route.perform(call, exchange, slices) }
    for _ in 0..<100 where !answer.isComplete {
      timers.pass(milliseconds: 0)
      slices.turnEnded()
    }
    return try #require(answer.response)
  }

  /// The document of an answer that is no refusal.
  func document(_ group: some RouteGroup, _ method: String, _ target: String, json: String = "") throws
    -> JSONValue
  {
    let response = try ask(group, method, target, json: json)
    try #require(response.status < 300, "\(String(decoding: response.body, as: UTF8.self))")
    return try #require(JSONReader.read(response.body, maximumDepth: 64))
  }
}
