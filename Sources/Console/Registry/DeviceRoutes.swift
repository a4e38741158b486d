import Basics
import Broker
import PushModel
import Transport

extension Console {
  var deviceRoutes: [Route] {
    [
      .get(
        "/api/v1/devices", "Devices that have been seen, oldest first", .document(bound(Console.listDevices))
      )
      .query([.online] + RouteParameter.page)
      .answers(200, "Devices", .list("devices", of: DeviceDocument.shape.schema)),
      // Whether it is connected, and by what, is known to its node.
      .get(
        "/api/v1/devices/{udid}", "One device: connections, topics, stored notifications",
        .document(bound(Console.showDevice))
      )
      .atLeader(of: .udid).answers(200, "The device", DeviceDocument.shape.schema),
      .post(
        "/api/v1/devices/{udid}/erase", "Erases the phone: every app is gone",
        .document(bound(Console.eraseDevice))
      )
      // It changes the token map; and so on.
      .atLeader(of: .udid).takes(.emptyObject)
      .answers(200, "The device afterwards", DeviceDocument.shape.schema),
      .post(
        "/api/v1/devices/{udid}/restore",
        "Restores the phone's backup onto a new phone: every app is there, each with another token",
        .document(bound(Console.restoreDevice))
      )
      .atLeader(of: .udid).takes(.emptyObject).refuses(409)
      .answers(200, "The device afterwards", DeviceDocument.shape.schema),
      .post(
        "/api/v1/devices/{udid}/disconnect", "Ends the device's connections; it may come back",
        .answer(bound(Console.disconnectDevice))
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
      .answer { [unowned self] in try changeApp($0, change) }
    )
    .atLeader(of: .udid).refuses(409).query([.environment]).takes(.emptyObject)
    .answers(200, "The app's row of the token table", TokenDocument.schema)
  }

  /// `GET /api/v1/devices`
  func listDevices(_ request: ConsoleRequest) throws -> GrowingDocument {
    var query = try request.query()
    let isOnline = try query.value("online", .word([true, false], { "\($0)" }))
    let page = try Page(&query)
    try query.finish()
    let (broker, registry) = (broker, broker.registry)
    return page.document(
      "devices", DeviceID.rows(from: page.start, below: registry.deviceCount), of: registry,
      where: { isOnline == nil || registry[$0].isOnline == isOnline },
      { .object(DeviceDocument($0, broker).growing) })
  }

  /// `GET /api/v1/devices/{udid}`
  func showDevice(_ request: ConsoleRequest) throws -> GrowingDocument {
    return GrowingDocument(DeviceDocument(try knownDevice(request), broker).growing)
  }

  /// `POST /api/v1/devices/{udid}/apps/{topic}/{action}`: what a person does to an app. Answers the app's row of the
  /// token map, which is the last one when it was removed.
  func changeApp(_ request: ConsoleRequest, _ change: AppChange) throws -> HTTPResponse {
    let environment = try actionEnvironment(request)
    let (udid, topicName) = (try request.udid(), try request.topic())
    if change == .install {
      return shown(try install(topicName, on: udid, environment, now: request.now))
    }
    let device = try knownDevice(request)
    let topic = try newOrKnownTopic(topicName)
    let installed = broker.registry.installed(device, topic, environment)
    guard change == .reinstall || installed != nil else {
      throw ConsoleError.notFound("\(topicName) is not installed on \(udid) in \(environment.name)")
    }
    let token = broker.apps.change(
      change, device: device, topic: topic, environment: environment, now: request.now)
    guard let row = change == .remove ? installed : token.flatMap(broker.registry.find) else {
      throw noRoom(device, udid)
    }
    return shown(row)
  }

  /// Installs the app, and makes the phone known, unless they are there; answers its row of the token map.
  func install(_ topicName: Topic, on udid: UDID, _ environment: Environment, now: Timestamp) throws
    -> RegistrationID
  {
    let device = try newOrKnownDevice(udid, now)
    let topic = try newOrKnownTopic(topicName)
    let token = broker.apps.change(.install, device: device, topic: topic, environment: environment, now: now)
    guard let row = token.flatMap(broker.registry.find) else { throw noRoom(device, udid) }
    return row
  }

  /// `POST /api/v1/devices/{udid}/erase`
  func eraseDevice(_ request: ConsoleRequest) throws -> GrowingDocument {
    try checkNoBody(request)
    let device = try knownDevice(request)
    broker.apps.erase(device, now: request.now)
    return GrowingDocument(DeviceDocument(device, broker).growing)
  }

  /// `POST /api/v1/devices/{udid}/restore`
  func restoreDevice(_ request: ConsoleRequest) throws -> GrowingDocument {
    try checkNoBody(request)
    let device = try knownDevice(request)
    guard broker.apps.restore(device, now: request.now) else { throw noRoom(device, try request.udid()) }
    return GrowingDocument(DeviceDocument(device, broker).growing)
  }

  /// `POST /api/v1/devices/{udid}/disconnect`
  func disconnectDevice(_ request: ConsoleRequest) throws -> HTTPResponse {
    try checkNoBody(request)
    let device = try knownDevice(request)
    let wasOnline = broker.devices.disconnect(
      device: device, reason: "the console asked for it", now: request.now)
    return HTTPResponse(json: Disconnection(udid: request.part("udid"), wasOnline: wasOnline).json)
  }

  private func knownDevice(_ request: ConsoleRequest) throws -> DeviceID { try knownDevice(request.udid()) }

  func knownDevice(_ udid: UDID) throws -> DeviceID {
    guard let device = broker.registry.knownDevice(udid) else {
      throw ConsoleError.notFound("no device \(udid) has been seen; installing an app on it makes it known")
    }
    return device
  }

  func newOrKnownDevice(_ udid: UDID, _ now: Timestamp) throws -> DeviceID {
    guard let device = broker.registry.device(udid, now: now) else {
      throw ConsoleError.full("devices", limit: Registry.rowLimit)
    }
    return device
  }

  func newOrKnownTopic(_ name: Topic) throws -> TopicID {
    guard let topic = broker.registry.topic(named: name) else {
      throw ConsoleError.full("topics", limit: Registry.topicLimit)
    }
    return topic
  }

  func noRoom(_ device: DeviceID, _ udid: UDID) -> ConsoleError {
    broker.registry.registrations(of: device).count >= Registry.rowsPerDevice
      ? .full("\(udid.text)'s installs, reinstalls included", limit: Registry.rowsPerDevice)
      : .full("tokens", limit: Registry.rowLimit)
  }

  /// The query's environment, else the emulator's.
  private func actionEnvironment(_ request: ConsoleRequest) throws -> Environment {
    _ = try request.object(allowing: [])
    var query = try request.query()
    let environment = try query.environment() ?? context.environment
    try query.finish()
    return environment
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
