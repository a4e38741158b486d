import APNSEmulatorTesting
import Basics
import Emulator
import Foundation
import Platform
import PushModel
import SimulatedDevice
import Testing

@testable import Storage

@Suite("An emulator inside a test", .apnsEmulator, .timeLimit(.minutes(15)))
struct APNSEmulatorTests {
  let emulator = APNSEmulator.current
  /// Other suites may keep the threads of this process busy.
  private let timeout = Duration.seconds(60)

  @Test("tells what a provider has pushed, and why it was refused")
  func pushes() async throws {
    let provider = try PlainProvider(emulator)
    let token = try await emulator.install(app, on: "phone-1")
    #expect(try await provider.push(alert("one"), to: token) == (200, ""))
    #expect(try await provider.push(alert("two"), to: token, topic: "com.example.other").status == 400)
    let pushes = try await emulator.waitForPushes(2, within: timeout)
    #expect(pushes.map(\.text) == [alert("one"), alert("two")])
    #expect(pushes.map(\.rejection) == [nil, .deviceTokenNotForTopic])
    #expect(pushes.map(\.udid) == ["phone-1", "phone-1"])
    #expect(pushes[0].state == .stored)
    #expect(pushes[0].interface == .console)
    await emulator.forgetPushes()
    #expect(try await emulator.pushes().isEmpty)
  }

  @Test("a phone gets what was sent while it was offline, once it is back")
  func offline() async throws {
    let phone = try await emulator.phone(apps: app)
    let token = try await phone.token(for: app)
    #expect(try await token == emulator.install(app, on: phone.udid))
    #expect(await phone.isConnected)
    try await emulator.send(alert("here"), to: token, topic: app)
    let first = try await phone.nextMessage(within: timeout)
    #expect((first.text, first.topic, first.isFromStore) == (alert("here"), app, false))
    try await phone.disconnect()
    #expect(try await emulator.send(alert("offline"), to: token, topic: app).state == .stored)
    try await phone.connect(within: timeout)
    let second = try await phone.nextMessage(within: timeout)
    #expect((second.text, second.token, second.isFromStore) == (alert("offline"), token, true))
    #expect(await phone.messages.count == 2)
  }

  @Test("an app that is removed is reported by the phone, and its token is gone")
  func removed() async throws {
    let phone = try await emulator.phone(apps: app, "com.example.other")
    let token = try await phone.token(for: app)
    try await emulator.remove(app, from: phone.udid)
    try await emulator.send(alert("into the void"), to: token, topic: app)
    _ = try await emulator.waitForPush(within: timeout) { $0.state == .discarded }
    #expect(try await emulator.send(alert("again"), to: token, topic: app).rejection == .unregistered)
  }

  @Test("an app that is installed again has its token until it has another; one that is removed has none")
  func tokens() async throws {
    let (topic, need) = (try Topic(checking: app), TokenNeed(try Topic(checking: app)))
    let (first, second) = (DeviceToken(), try #require(DeviceToken(bytes: [UInt8](repeating: 1, count: 32))))
    let told = try await emulator.tokens(
      of: topic,
      after: [
        .token(need, first), .app(topic, .reinstalled), .token(need, second), .app(topic, .removed),
      ])
    #expect(told == [first, first, second, nil])
  }

  @Test("a refusal ends the token of an app that is installed again, and a restore those of all apps")
  func endedTokens() async throws {
    let (topic, need) = (try Topic(checking: app), TokenNeed(try Topic(checking: app)))
    let told = try await emulator.tokens(
      of: topic,
      after: [
        .token(need, DeviceToken()), .app(topic, .reinstalled), .tokenRefused(need, status: 1),
        .token(need, DeviceToken()), .restored(UDID(checking: "phone-2")),
      ])
    #expect(told == [DeviceToken(), DeviceToken(), nil, DeviceToken(), nil])
  }

  @Test("a fault is injected as often as it was told, and has a name")
  func faults() async throws {
    let token = try await emulator.install(app, on: "phone-1")
    try await emulator.inject("busy", when: .next(2)) { $0.reason = .serviceUnavailable }
    let provider = try PlainProvider(emulator)
    var statuses: [Int] = []
    for number in 1...3 { statuses.append(try await provider.push(alert("\(number)"), to: token).status) }
    #expect(statuses == [503, 503, 200])
    #expect(await emulator.fault("busy")?.hits == 2)
    #expect(try await emulator.pushes().map(\.fault) == ["busy", "busy", nil])
    #expect(await emulator.removeFault("busy"))
    #expect(await emulator.fault("busy") == nil)
  }

  @Test("a fault that could never be injected is refused")
  func senselessFault() async throws {
    await #expect(throws: APNSEmulatorError.self) { try await emulator.inject("nothing") { _ in } }
    await #expect(throws: APNSEmulatorError.self) {
      try await emulator.inject("both") { ($0.refuses, $0.courier) = (true, .drop) }
    }
  }

  @Test("the clock stands still, and goes where it is told: a provider token grows old")
  func clock() async throws {
    let token = try await emulator.install(app, on: "phone-1")
    let provider = try PlainProvider(emulator)
    await emulator.freezeClock()
    let moment = await emulator.now
    let old = try provider.key.token(issued: moment)
    #expect(try await provider.push(alert("young"), to: token, authorization: old) == (200, ""))
    #expect(await emulator.now == moment)
    await emulator.advanceClock(by: .seconds(61 * 60))
    #expect(await emulator.now == moment.addingTimeInterval(61 * 60))
    #expect(
      try await provider.push(alert("old"), to: token, authorization: old) == (403, "ExpiredProviderToken"))
    await emulator.setClock(to: moment)
    #expect(await emulator.now == moment)
  }

  @Test(
    "a date that no clock reaches is the farthest that it has",
    arguments: [
      // Years 4001 and 0001, as `distantFuture` and `distantPast`.
      (64_092_211_200, Int64.max), (-62_135_769_600, .min), (Double.infinity, .max), (.nan, .max),
    ])
  func dates(secondsSince1970: Double, nanoseconds: Int64) async throws {
    let date = Date(timeIntervalSince1970: secondsSince1970)
    #expect(Timestamp(date).nanoseconds == nanoseconds)
    let token = try await emulator.install(app, on: "phone-1")
    #expect(try await emulator.send(alert("one"), to: token, topic: app, expiration: date).isAccepted)
    await emulator.setClock(to: date)
    let reached = await emulator.now
    #expect(nanoseconds > 0 ? reached.timeIntervalSince1970 > 9e9 : reached.timeIntervalSince1970 < -7e9)
  }

  @Test("a message that has expired when the phone comes back is not delivered")
  func expired() async throws {
    let phone = try await emulator.phone(apps: app)
    let token = try await phone.token(for: app)
    try await phone.disconnect()
    let soon = await emulator.now.addingTimeInterval(600)
    try await emulator.send(alert("gone"), to: token, topic: app, expiration: soon)
    await emulator.advanceClock(by: .seconds(601))
    _ = try await emulator.waitForPush(within: timeout) { $0.state == .expired }
    await emulator.resetClock()
    try await phone.connect(within: timeout)
    try await emulator.send(alert("next"), to: token, topic: app)
    #expect(try await phone.nextMessage(within: timeout).text == alert("next"))
  }

  @Test("certificates and keys are there as files and as bytes, for the topics asked for")
  func credentials() throws {
    let certificate = try emulator.issuePushCertificate(for: app)
    #expect(isPEM(certificate.certificatePEM, "CERTIFICATE") && isPEM(certificate.keyPEM, "PRIVATE KEY"))
    #expect(try certificate.keyPEM == Data(contentsOf: URL(filePath: certificate.keyPath)))
    #expect(try certificate.pkcs12 == Data(contentsOf: URL(filePath: certificate.pkcs12Path)))
    let key = try emulator.issueTokenKey(team: "DEF123GHIJ", keyID: "ABC123DEFG", topics: app)
    #expect((key.keyID, key.teamID) == ("ABC123DEFG", "DEF123GHIJ"))
    #expect(key.path.hasSuffix("/AuthKey_ABC123DEFG.p8"))
    #expect(throws: APNSEmulatorError.self) { try emulator.issuePushCertificate(for: "no topic") }
  }

  private func isPEM(_ data: Data, _ label: String) -> Bool {
    String(decoding: data, as: UTF8.self).hasPrefix("-----BEGIN \(label)-----\n")
  }

  @Test("who waits in vain is told what came instead")
  func disappointment() async throws {
    let token = try await emulator.install(app, on: "phone-1")
    try await emulator.send(alert("other"), to: token, topic: app)
    let error = await #expect(throws: APNSEmulatorError.self) {
      try await emulator.waitForPush(within: .milliseconds(50)) { $0.text.contains("wanted") }
    }
    #expect(error?.code == .timedOut)
    #expect(error?.description.contains("1: \(app) to \(token.prefix(8))… accepted, stored") == true)
  }

  @Test("a test that gives up need not wait for the end of its timeout")
  func cancelled() async throws {
    let waiting = Task { [emulator] in try await emulator.waitForPush(within: .seconds(600)) }
    try await emulator.until { $0.waiting == 1 }
    waiting.cancel()
    await #expect(throws: APNSEmulatorError.self) { try await waiting.value }
  }
}

@Suite("The life of an emulator inside a test", .timeLimit(.minutes(15)))
struct APNSEmulatorLifeTests {
  @Test("after its end it answers nobody, and everything of it is gone")
  func stopped() async throws {
    let emulator = try await APNSEmulator.start()
    let waiting = Task { try await emulator.waitForPush(within: .seconds(600)) { $0.text == "never" } }
    try await emulator.until { $0.waiting == 1 }
    let phone = try await emulator.phone(apps: app)
    await emulator.stop()
    await emulator.stop()
    #expect(access(emulator.certsPath, F_OK) != 0)
    let inVain = await #expect(throws: APNSEmulatorError.self) { try await waiting.value }
    #expect(inVain?.code == .stopped)
    #expect(inVain?.description.hasPrefix("stopped while waiting for 1 matching push") == true)
    let late = await #expect(throws: APNSEmulatorError.self) {
      try await emulator.install(app, on: "phone-1")
    }
    #expect(late?.description == "the emulator has been stopped")
    await #expect(throws: APNSEmulatorError.self) { try await phone.connect() }
  }

  @Test("one that can't go on tells whoever waits for it or asks it why")
  func failed() async throws {
    let emulator = try await APNSEmulator.start { $0.isEphemeral = false }
    let token = try await emulator.install(app, on: "phone-1")
    let waiting = Task { try await emulator.waitForPush(within: .seconds(600)) }
    try await emulator.until { $0.waiting == 1 }
    try await emulator.spoilStore()
    _ = try? await emulator.send(alert("lost"), to: token, topic: app)
    let inVain = await #expect(throws: APNSEmulatorError.self) { try await waiting.value }
    #expect(inVain?.code == .stopped)
    #expect(inVain?.description.hasPrefix("stopped while waiting for 1 matching push") == true)
    let late = await #expect(throws: APNSEmulatorError.self) { try await emulator.pushes() }
    for error in [inVain, late] {
      #expect(
        error?.description.contains("the store can't be written") == true, "\(String(describing: error))")
    }
    await emulator.stop()
  }

  @Test("a phone that was refused a token may come again", .apnsEmulator)
  func refusedOnce() async throws {
    let phone = try await APNSEmulator.current.phone(apps: app)
    try await APNSEmulator.current.refuseToken(of: app, on: phone.udid)
    let error = await #expect(throws: APNSEmulatorError.self) { try await phone.connect() }
    #expect(error?.code == .refused)
    try await phone.disconnect()
    try await phone.connect(within: .seconds(60))
    try await APNSEmulator.current.refuseToken(of: app, on: phone.udid)
    try await APNSEmulator.current.giveToken(of: app, on: phone.udid)
    try await phone.connect(within: .seconds(60))
  }

  @Test("one that nobody holds on to ends by itself")
  func forgotten() async throws {
    let path = try await APNSEmulator.start().certsPath
    while access(path, F_OK) == 0 { await Task.yield() }
  }

  @Test("its loop and what lives on it go with it", .timeLimit(.minutes(15)))
  func released() async throws {
    let leftovers = Leftovers()
    do {
      let emulator = try await APNSEmulator.start()
      await leftovers.remember(emulator)
      await emulator.stop()
    }
    while leftovers.areThere {
      try Task.checkCancellation()
      await Task.yield()
    }
  }

  @Test("one that can't start says why, and leaves nothing")
  func refused() async throws {
    let error = await #expect(throws: (any Error).self) {
      try await APNSEmulator.start { $0.seedData = "/nowhere/state.json" }
    }
    #expect("\(try #require(error))".contains("/nowhere/state.json"))
  }

  @Test("is what the trait was told it should be", .apnsEmulator { $0.environment = .production })
  func configured() async throws {
    let token = try await APNSEmulator.current.install(app, on: "phone-1")
    let push = try await APNSEmulator.current.send(alert("hello"), to: token, topic: app)
    #expect(push.environment == .production)
  }
}

/// What may be left of an emulator. Unchecked because it is filled on the emulator's thread, before anybody looks.
private final class Leftovers: @unchecked Sendable {
  private weak var loop: AnyObject?
  private weak var broker: AnyObject?

  var areThere: Bool { loop != nil || broker != nil }

  func remember(_ emulator: isolated APNSEmulator) {
    (loop, broker) = (emulator.live.emulator.loop, emulator.live.emulator.broker)
  }
}

extension APNSEmulator {
  /// Makes SQLite refuse whatever comes.
  fileprivate func spoilStore() throws {
    let store = try #require(live.emulator.store as? SQLiteStore)
    try store.database.execute("PRAGMA query_only = 1")
  }

  /// The phone hears that there is no token for one of its apps, which takes more devices than a test can make.
  fileprivate func refuseToken(of topic: String, on udid: String) throws {
    let need = TokenNeed(try #require(Topic(topic)))
    live.phones[udid]?.deviceTold(
      .tokenRefused(need, status: 1), of: live.emulator.options.environment)
  }

  fileprivate func giveToken(of topic: String, on udid: String) throws {
    let (need, phone) = (TokenNeed(try #require(Topic(topic))), try #require(live.phones[udid]))
    phone.deviceTold(
      .token(need, try #require(phone.device.tokens[need])), of: live.emulator.options.environment)
  }
}

extension APNSEmulator {
  /// What a phone that has heard each of these has for an app.
  fileprivate func tokens(of topic: Topic, after events: [DeviceEvent]) throws -> [DeviceToken?] {
    let phone = try LivePhone(UDID(checking: "phone-2"), live.emulator, nil)
    return events.map { event in
      phone.deviceTold(event, of: .sandbox)
      return phone.tokens[topic]
    }
  }
}
