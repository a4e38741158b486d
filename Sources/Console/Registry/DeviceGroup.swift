import Basics
import Broker
import PushModel
import Transport

/// Devices, and what people do to them.
package struct DeviceGroup: RouteGroup {
  private let broker: Broker
  private let environment: Environment
  private var registry: Registry { broker.registry }

  /// `environment`: where a request does not say which one it means.
  package init(_ broker: Broker, _ environment: Environment) {
    (self.broker, self.environment) = (broker, environment)
  }

  package var routes: [Route] {
    [
      .get("/api/v1/devices", "Devices that have been seen, oldest first", .document(listDevices))
        .query([.online] + RouteParameter.page)
        .answers(200, "Devices", .list("devices", of: DeviceDocument.shape.schema)),
      // Whether it is connected, and by what, is known to its node.
      .get(
        "/api/v1/devices/{udid}", "One device: connections, topics, stored notifications",
        .document(showDevice)
      )
      .atLeader(of: .udid).answers(200, "The device", DeviceDocument.shape.schema),
      .post(
        "/api/v1/devices/{udid}/erase", "Erases the phone: every app is gone", .document(eraseDevice)
      )
      // It changes the token map; and so on.
      .atLeader(of: .udid).takes(.emptyObject)
      .answers(200, "The device afterwards", DeviceDocument.shape.schema),
      .post(
        "/api/v1/devices/{udid}/restore",
        "Restores the phone's backup onto a new phone: every app is there, each with another token",
        .document(restoreDevice)
      )
      .atLeader(of: .udid).takes(.emptyObject).refuses(409)
      .answers(200, "The device afterwards", DeviceDocument.shape.schema),
      .post(
        "/api/v1/devices/{udid}/disconnect", "Ends the device's connections; it may come back",
        .answer(disconnectDevice)
      )
      .atLeader(of: .udid).takes(.emptyObject)
      .answers(200, "Whether there was a connection", Disconnection.schema),
    ] + AppChange.allCases.filter { !$0.isOfPhone }.map(appRoute)
  }

  private func appRoute(_ change: AppChange) -> Route {
    let summaries: [AppChange: String] = [
      .install: "Installs the app, on a device that may be new",
      .update: "Updates the app: its token stays",
      .reinstall: "Removes and installs the app: it gets another token",
      .remove: "Removes the app; providers hear of it once the device has been tried",
    ]
    return .post(
      "/api/v1/devices/{udid}/apps/{topic}/\(change.rawValue)", summaries[change] ?? change.rawValue,
      .answer { try changeApp($0, change) }
    )
    .atLeader(of: .udid).refuses(409).query([.environment]).takes(.emptyObject)
    .answers(200, "The app's row of the token table", TokenDocument.schema)
  }

  /// `GET /api/v1/devices`
  private func listDevices(_ request: ConsoleRequest) throws -> GrowingDocument {
    let (isOnline, page) = try request.query {
      (try $0.value("online", .word([true, false], { "\($0)" })), try Page(&$0))
    }
    return page.document(
      "devices", DeviceID.rows(from: page.start, below: registry.deviceCount), of: registry,
      where: { isOnline == nil || registry[$0].isOnline == isOnline },
      { .object(DeviceDocument($0, broker).growing) })
  }

  /// `GET /api/v1/devices/{udid}`
  private func showDevice(_ request: ConsoleRequest) throws -> GrowingDocument {
    try document(registry.seenDevice(request.udid()))
  }

  /// `POST /api/v1/devices/{udid}/apps/{topic}/{action}`: what a person does to an app. Answers the app's row of the
  /// token map, which is the last one when it was removed.
  private func changeApp(_ request: ConsoleRequest, _ change: AppChange) throws -> HTTPResponse {
    let environment = try actionEnvironment(request)
    let (udid, topicName) = (try request.udid(), try request.topic())
    if change == .install {
      return shown(try broker.install(topicName, on: udid, environment, now: request.now))
    }
    let device = try registry.seenDevice(udid)
    let topic = try registry.newOrKnownTopic(topicName)
    let installed = registry.installed(device, topic, environment)
    guard change == .reinstall || installed != nil else {
      throw ConsoleError.notFound("\(topicName) is not installed on \(udid) in \(environment.name)")
    }
    let token = broker.apps.change(
      change, device: device, topic: topic, environment: environment, now: request.now)
    guard let row = change == .remove ? installed : token.flatMap(registry.find) else {
      throw registry.noRoom(device)
    }
    return shown(row)
  }

  private func shown(_ row: RegistrationID) -> HTTPResponse {
    HTTPResponse(json: TokenDocument(row, registry).json)
  }

  /// `POST /api/v1/devices/{udid}/erase`
  private func eraseDevice(_ request: ConsoleRequest) throws -> GrowingDocument {
    try checkNoBody(request)
    let device = try registry.seenDevice(request.udid())
    broker.apps.erase(device, now: request.now)
    return document(device)
  }

  /// `POST /api/v1/devices/{udid}/restore`
  private func restoreDevice(_ request: ConsoleRequest) throws -> GrowingDocument {
    try checkNoBody(request)
    let device = try registry.seenDevice(request.udid())
    guard broker.apps.restore(device, now: request.now) else { throw registry.noRoom(device) }
    return document(device)
  }

  /// `POST /api/v1/devices/{udid}/disconnect`
  private func disconnectDevice(_ request: ConsoleRequest) throws -> HTTPResponse {
    try checkNoBody(request)
    let device = try registry.seenDevice(request.udid())
    let wasOnline = broker.devices.disconnect(
      device: device, reason: "the console asked for it", now: request.now)
    return HTTPResponse(json: Disconnection(udid: request.part("udid"), wasOnline: wasOnline).json)
  }

  /// The query's environment, else the emulator's.
  private func actionEnvironment(_ request: ConsoleRequest) throws -> Environment {
    _ = try request.object(allowing: [])
    return try request.query { try $0.environment() } ?? environment
  }

  private func document(_ device: DeviceID) -> GrowingDocument {
    GrowingDocument(DeviceDocument(device, broker).growing)
  }

  private func checkNoBody(_ request: ConsoleRequest) throws {
    _ = try request.object(allowing: [])
  }
}

/// What came of ending a device's connections.
struct Disconnection: JSONAnswer {
  let udid: String
  /// Whether there was one.
  let wasOnline: Bool

  static let shape = JSONShape<Disconnection>([
    "udid": .show(JSONExample.udid) { $0.udid }, "disconnected": .show(true) { $0.wasOnline },
  ]).named("Disconnection")
}
