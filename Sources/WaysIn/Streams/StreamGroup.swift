import Basics
import Broker
import Console
import ConsoleAnswers
import PushModel
import Transport

/// Devices that are online as long as a stream of them is read.
package struct StreamGroup: RouteGroup {
  private let streams: any DeviceStreams
  private let registry: Registry
  private let environment: Environment

  /// `environment`: where a request does not say which one it means.
  package init(_ streams: any DeviceStreams, _ registry: Registry, _ environment: Environment) {
    (self.streams, self.registry, self.environment) = (streams, registry, environment)
  }

  package var routes: [Route] {
    [
      .get(
        "/api/v1/devices/{udid}/stream",
        "Connects a device for as long as this is read, and sends its notifications as server-sent events",
        .exchange(streamDevice)
      )
      // Its reader is the device, which its node serves.
      .atLeader(of: .udid).query([.streamTopic, .environment, .streamAcknowledgement]).stream.standing
      .refuses(409, 503)
      .answers(200, "A stream without end", .text(APIExamples.events), contentType: "text/event-stream"),
      .post(
        "/api/v1/devices/{udid}/stream/ack",
        "Acknowledges notifications of a stream that was opened with `ack=explicit`",
        .answer(acknowledgeStream)
      )
      .atLeader(of: .udid).refuses(409).query([.environment]).needs(StreamReceipt.schema).takes(upTo: .large)
      .answers(200, "The number that were not acknowledged before", StreamReceipt.answer.schema),
    ]
  }

  /// `GET /api/v1/devices/{udid}/stream`: a device that is online as long as somebody reads.
  private func streamDevice(_ request: ConsoleRequest, _ exchange: HTTPExchange) throws {
    let order = try streamOrder(request)
    guard request.http.method == "GET" else { return exchange.answer(.eventStream()) }
    try streams.open(order, exchange)
  }

  private func streamOrder(_ request: ConsoleRequest) throws -> DeviceStreamOrder {
    let items = request.http.query
    var query = try QueryReader(items.filter { $0.name != "topic" })
    var order = DeviceStreamOrder(
      udid: try request.udid(), environment: try query.environment() ?? self.environment)
    _ = query.text("topic")
    for item in items where item.name == "topic" {
      let topic = try JSONKind.topic.read(.string(item.value), "topic")
      if !order.topics.contains(topic) { order.topics.append(topic) }
    }
    order.isExplicit = try query.value("ack", .word([false, true], { $0 ? "explicit" : "written" })) ?? false
    try query.finish()
    return order
  }

  /// `POST /api/v1/devices/{udid}/stream/ack`
  private func acknowledgeStream(_ request: ConsoleRequest) throws -> HTTPResponse {
    let environment = try request.query { try $0.environment() } ?? self.environment
    let udid = try request.udid()
    let receipt = try StreamReceipt.form.read(request.object(), from: StreamReceipt())
    guard registry.knownDevice(udid) != nil else {
      throw ConsoleError.notFound("there is no device \(udid)")
    }
    guard let count = streams.acknowledge(receipt.ids, by: udid, in: environment) else {
      throw ConsoleError.conflict("\(udid) has no open stream in \(environment.name)")
    }
    return HTTPResponse(json: StreamReceipt.answer.write(count))
  }
}

/// What `POST …/stream/ack` takes.
struct StreamReceipt: JSONDocument {
  /// Notifications, by their ids.
  var ids: [UInt64] = []

  static let form = JSONForm<StreamReceipt>([
    JSONField("ids", .list(of: JSONKind<UInt64>.whole), \.ids).needed
  ])
  static let schema = JSONSchema("StreamReceipt", form.schema, example: ["ids": [1]])

  /// How many of them had not been acknowledged.
  static let answer = JSONShape<Int>(["acknowledged": .show(1) { $0 }]).named("StreamAcknowledgement")
}

/// Devices that are streams of the console: whoever reads one is a device that is online. Implemented by the emulator.
package protocol DeviceStreams: AnyObject {
  /// Begins a stream as the answer of `exchange`. Throws before anything of the answer has left, for what there are too many of.
  func open(_ order: DeviceStreamOrder, _ exchange: HTTPExchange) throws(ConsoleError)
  /// The device has these notifications; answers how many of them it had not acknowledged, nil if it has no open stream.
  func acknowledge(_ ids: [UInt64], by udid: UDID, in environment: Environment) -> Int?
}

/// What a stream is to be.
package struct DeviceStreamOrder: Sendable {
  package var udid: UDID
  package var environment: Environment
  /// Apps that are registered as if they were installed; none: whatever is installed on the device, now and later.
  package var topics: [Topic] = []
  /// Notifications are unacknowledged until they are named (`DeviceStreams.acknowledge`), and not only until they have left.
  package var isExplicit = false

  package init(udid: UDID, environment: Environment) { (self.udid, self.environment) = (udid, environment) }
}
