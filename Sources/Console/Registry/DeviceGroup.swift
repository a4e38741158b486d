import Basics
import Broker
import ConsoleAnswers
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
        .document { try document(registry.seenDevice($0.udid())) }
      )
      .atLeader(of: .udid).answers(200, "The device", DeviceDocument.shape.schema),
      deed("erase", "Erases the phone: every app is gone", .document(eraseDevice))
        .answers(200, "The device afterwards", DeviceDocument.shape.schema),
      deed(
        "restore",
        "Restores the phone's backup onto a new phone: every app is there, each with another token",
        .document(restoreDevice)
      )
      .refuses(409).answers(200, "The device afterwards", DeviceDocument.shape.schema),
      deed("disconnect", "Ends the device's connections; the device may reconnect", .json(disconnectDevice))
        .answers(200, "Whether the device had a connection", Self.disconnection.schema),
    ] + AppChange.allCases.filter { !$0.isOfPhone }.map(appRoute)
  }

  private func appRoute(_ change: AppChange) -> Route {
    let summaries: [AppChange: String] = [
      .install: "Installs the app, on a device that may be new",
      .update: "Updates the app: its token stays",
      .reinstall: "Removes and installs the app: it gets another token",
      .remove: "Removes the app; providers are notified once a push has reached the device",
    ]
    return deed(
      "apps/{topic}/\(change.rawValue)", summaries[change] ?? change.rawValue,
      .json { try changeApp($0, change) }
    )
    .refuses(409).query([.environment]).answers(200, "The app's row of the token table", TokenDocument.schema)
  }

  /// What is done to a device.
  private func deed(_ path: String, _ summary: String, _ action: Route.Action) -> Route {
    // It changes the token map, or what its node knows.
    .post("/api/v1/devices/{udid}/\(path)", summary, action).atLeader(of: .udid).takes(.emptyObject)
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

  /// `POST /api/v1/devices/{udid}/apps/{topic}/{action}`: what a person does to an app. Answers the app's row of the
  /// token map, which is the last one when it was removed.
  private func changeApp(_ request: ConsoleRequest, _ change: AppChange) throws -> TokenDocument {
    let environment = try actionEnvironment(request)
    let (udid, topicName) = (try request.udid(), try request.topic())
    if change == .install {
      return TokenDocument(
        try broker.install(topicName, on: udid, environment, now: request.now), registry)
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
    return TokenDocument(row, registry)
  }

  /// `POST /api/v1/devices/{udid}/erase`
  private func eraseDevice(_ request: ConsoleRequest) throws -> GrowingDocument {
    let device = try doneTo(request)
    broker.apps.erase(device, now: request.now)
    return document(device)
  }

  /// `POST /api/v1/devices/{udid}/restore`
  private func restoreDevice(_ request: ConsoleRequest) throws -> GrowingDocument {
    let device = try doneTo(request)
    guard broker.apps.restore(device, now: request.now) else { throw registry.noRoom(device) }
    return document(device)
  }

  /// `POST /api/v1/devices/{udid}/disconnect`
  private func disconnectDevice(_ request: ConsoleRequest) throws -> JSONValue {
    let wasOnline = broker.devices.disconnect(
      device: try doneTo(request), reason: "the console asked for it", now: request.now)
    return Self.disconnection.write((request.part("udid"), wasOnline))
  }

  /// What came of ending a device's connections: whether there was one.
  private static let disconnection = JSONShape<(udid: String, wasOnline: Bool)>([
    "udid": .show(JSONExample.udid) { $0.udid }, "disconnected": .show(true) { $0.wasOnline },
  ]).named("Disconnection")

  /// The device that something is done to, for which no more need be said.
  private func doneTo(_ request: ConsoleRequest) throws -> DeviceID {
    _ = try request.object(allowing: [])
    return try registry.seenDevice(request.udid())
  }

  /// The query's environment, else the emulator's.
  private func actionEnvironment(_ request: ConsoleRequest) throws -> Environment {
    _ = try request.object(allowing: [])
    return try request.query { try $0.environment() } ?? environment
  }

  private func document(_ device: DeviceID) -> GrowingDocument {
    GrowingDocument(DeviceDocument(device, broker).growing)
  }
}
