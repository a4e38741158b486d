import Basics
import PushModel
import TestSupport
import Testing

import Broker

/// A broker with a clock that stands still until it is moved, and short words for what peers do.
final class Lab {
  static let app = "com.example.app"
  let derivation = FakeDerivation()
  let broker: Broker
  var now = Timestamp(seconds: 1_700_000_000)
  /// The broker does not own connections.
  private var phones: [TestDevice] = []

  init(options: BrokerOptions = BrokerOptions()) { broker = Broker(derivation: derivation, options: options) }

  /// A phone and its session hold each other until its connection ends, which nobody says here.
  deinit { for phone in phones { phone.session = nil } }

  func pass(seconds: Int64) { now = now.adding(nanoseconds: seconds * 1_000_000_000) }

  /// The UNIX time in so many seconds.
  func time(in seconds: Int64) -> UInt32 { UInt32(now.seconds + seconds) }

  // MARK: Devices

  func topic(_ name: String = app) throws -> TopicID {
    let topic = try #require(Topic(name))
    return try #require(broker.registry.topic(named: topic))
  }

  func hash(_ name: String = app) throws -> TopicHash { broker.registry[try topic(name)].hash }

  func device(_ udid: String = "phone") throws -> DeviceID {
    let udid = try #require(UDID(udid))
    return try #require(broker.registry.device(udid, now: now))
  }

  /// Registers an app on a device; answers its row.
  func row(_ udid: String = "phone", _ name: String = app, _ environment: Environment = .sandbox) throws
    -> RegistrationID
  {
    let (device, topic) = (try device(udid), try topic(name))
    let change = broker.apps.change(
      .install, device: device, topic: topic, environment: environment, now: now)
    let token = try #require(change)
    return try #require(broker.registry.find(token))
  }

  /// Connects a device on a connection of its own.
  func connect(
    _ udid: String = "phone", key: [UInt8] = [1], environment: Environment = .sandbox,
    on phone: TestDevice? = nil,
    enabling topics: [String] = []
  ) throws -> TestDevice {
    let phone = phone ?? TestDevice(connectedAt: now)
    phones.append(phone)
    let udid = try #require(UDID(udid))
    let connected = broker.devices.connect(
      udid, keyFingerprint: key, environment: environment, offeredBaseToken: nil, link: phone.link, now: now)
    phone.session = try #require(connected).session
    if !topics.isEmpty { try enable(topics, on: phone) }
    return phone
  }

  /// The device's filter; answers how many stored notifications it was for.
  @discardableResult
  func enable(_ topics: [String], on phone: TestDevice) throws -> Int {
    let session = try #require(phone.session)
    return broker.devices.setFilter(session, enabled: try topics.map { try hash($0) }, now: now)
  }

  func disconnect(_ phone: TestDevice) throws {
    let session = try #require(phone.session)
    broker.devices.sessionEnded(session, now: now)
  }

  /// Acknowledges a message by its place among those received.
  func acknowledge(_ phone: TestDevice, _ index: Int, status: UInt8 = 0) {
    broker.deliveries.acknowledge(
      phone.link, messageId: phone.received[index].messageId, status: status, now: now)
  }

  // MARK: Providers

  func submission<Result>(
    to token: [UInt8], _ text: String, topic: TopicID?, environment: Environment = .sandbox,
    interface: Interface = .gateway, expiration: UInt32? = nil, _ body: (Submission) throws -> Result
  ) rethrows -> Result {
    let payload = Array(text.utf8)
    var submission = Submission(
      interface: interface, topic: topic, environment: environment, token: token.span, payload: payload.span)
    submission.plain.expiration = expiration
    return try body(submission)
  }

  @discardableResult
  func submit(
    _ row: RegistrationID, _ text: String, expiration: UInt32? = nil, interface: Interface = .gateway,
    environment: Environment? = nil, topic: TopicID?? = nil
  ) -> SubmissionResult {
    let registration = broker.registry[row]
    return submission(
      to: registration.token.bytes, text, topic: topic ?? registration.topic,
      environment: environment ?? registration.environment, interface: interface, expiration: expiration
    ) { broker.routing.submit($0, now: now) }
  }

  /// Pushes; answers the notification's id.
  @discardableResult
  func push(_ row: RegistrationID, _ text: String, expiration: UInt32? = nil) -> UInt64 {
    submit(row, text, expiration: expiration).id
  }

  // MARK: Looking

  func slot(_ row: RegistrationID) -> NotificationSlot { broker.deliveries.slot(row) }

  func kept(_ row: RegistrationID) -> String? {
    broker.deliveries.stored(row).map { $0.payload.text }
  }

  func state(_ id: UInt64) -> NotificationState? { broker.journal[id]?.state }
}
