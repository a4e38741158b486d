import Basics
import Credentials
import DeviceDriver
import Emulator
import Foundation
import Platform
import PushModel
import SimulatedDevice
import Transport

/// A simulated iPhone of an emulator: connects as `apsd` does, has a token for each of its apps, and acknowledges what
/// it gets.
///
/// ```swift
/// let phone = try await emulator.phone("phone-1", apps: "com.example.app")
/// let token = try await phone.token(for: "com.example.app")
/// try await emulator.send(#"{"aps":{"alert":"Hello"}}"#, to: token, topic: "com.example.app")
/// #expect(try await phone.nextMessage().text.contains("Hello"))
/// ```
public struct Phone: Sendable {
  /// Names it, as in the console.
  public let udid: String
  let emulator: APNSEmulator

  /// A push that has reached the phone.
  public struct Message: Sendable {
    /// Of the app that it is for.
    public let topic: String
    /// The token it was sent to, in hexadecimal.
    public let token: String
    /// The provider's identifier, if the service tells it.
    public let apnsID: String?
    /// 1, 5 or 10.
    public let priority: Int?
    /// When the service would have given it up; nil for never.
    public let expiration: Date?
    /// The bytes as the provider sent them.
    public let payload: Data
    /// Whether it was kept while the phone was offline.
    public let isFromStore: Bool

    /// The payload as text.
    public var text: String { String(decoding: payload, as: UTF8.self) }

    init(_ notification: DeviceNotification) {
      (topic, token) = (notification.topic.name, notification.token.hex)
      (apnsID, priority) = (notification.apnsId, notification.priority.map { Int($0) })
      expiration = notification.expiration.map { Date($0) }
      (payload, isFromStore) = (Data(notification.payload), notification.isFromStore)
    }
  }

  /// The token of one of its apps, in hexadecimal, as the app would send it to its server.
  ///
  /// ```swift
  /// let token = try await phone.token(for: "com.example.app")
  /// ```
  ///
  /// - Throws: `APNSEmulatorError` if it has no such app.
  public func token(for topic: String) async throws -> String { try await emulator.token(udid, topic) }

  /// Connects again after `disconnect`; returns when it is known to the service, with a token for each app. Nothing happens
  /// if it is connected.
  ///
  /// ```swift
  /// await phone.disconnect()
  /// try await emulator.send(payload, to: token, topic: topic)
  /// try await phone.connect()
  /// #expect(try await phone.nextMessage().isFromStore)
  /// ```
  public func connect(within timeout: Duration = .seconds(10)) async throws {
    try await emulator.connect(udid, timeout)
  }

  /// Goes off the air; returns when the service has noticed. What is sent now is kept for it.
  ///
  /// ```swift
  /// try await phone.disconnect()
  /// ```
  public func disconnect() async throws { try await emulator.disconnect(udid) }

  /// Whether the service has it connected. A fault may end that.
  ///
  /// ```swift
  /// #expect(await phone.isConnected)
  /// ```
  public var isConnected: Bool { get async { await emulator.isConnected(udid) } }

  /// The next message in order: each is answered once. Waits for one if need be.
  ///
  /// ```swift
  /// let message = try await phone.nextMessage(within: .seconds(2))
  /// ```
  ///
  /// - Throws: `APNSEmulatorError` with `.timedOut` if none came.
  public func nextMessage(within timeout: Duration = .seconds(5)) async throws -> Message {
    try await emulator.nextMessage(udid, timeout)
  }

  /// All messages since it was made, oldest first.
  ///
  /// ```swift
  /// #expect(await phone.messages.count == 1)
  /// ```
  public var messages: [Message] { get async { await emulator.messages(udid) } }
}

extension APNSEmulator {
  /// A phone that is connected, with apps. Asked for again under the same name it is the same phone, with more apps if these
  /// are new.
  ///
  /// ```swift
  /// let phone = try await emulator.phone("phone-1", apps: "com.example.app", "com.example.other")
  /// ```
  ///
  /// - Throws: `APNSEmulatorError` with `.invalid` for a name or topic that is none, `.timedOut` if it can't get through.
  public nonisolated func phone(_ udid: String = "phone-1", apps topics: String...) async throws -> Phone {
    let (name, topics) = (try UDID(checking: udid), try topics.map { try Topic(checking: $0) })
    // Making an RSA key takes a while: not on the emulator's thread.
    let request = try await isNew(udid) ? DeviceRequest.make(udid: name) : nil
    try await prepare(name, topics, request)
    try await connect(udid, .seconds(10))
    return Phone(udid: udid, emulator: self)
  }

  /// Installs an app on a phone as a person does, whether the phone is connected or not, and answers the app's token in
  /// hexadecimal.
  ///
  /// ```swift
  /// let token = try await emulator.install("com.example.app", on: "phone-1")
  /// ```
  ///
  /// - Throws: `APNSEmulatorError` with `.invalid` for a topic or UDID that is none.
  @discardableResult
  public func install(_ topic: String, on udid: String) throws -> String {
    try checkLife()
    let emulator = live.emulator
    let (topic, udid) = (try Topic(checking: topic), try UDID(checking: udid))
    guard let token = emulator.change(.install, topic, on: udid, in: emulator.options.environment) else {
      throw APNSEmulatorError(
        .refused, "the emulator has as many devices, topics or device tokens as it can hold")
    }
    return token.hex
  }

  /// Removes an app from a phone as a person does: its token is gone once the phone has said so, which it does when the
  /// next push comes for it.
  ///
  /// ```swift
  /// try await emulator.remove("com.example.app", from: "phone-1")
  /// ```
  public func remove(_ topic: String, from udid: String) throws {
    try checkLife()
    let (topic, udid) = (try Topic(checking: topic), try UDID(checking: udid))
    _ = live.emulator.change(.remove, topic, on: udid, in: live.emulator.options.environment)
  }

  private func isNew(_ udid: String) -> Bool { live.phones[udid] == nil }

  private func prepare(_ udid: UDID, _ topics: [Topic], _ request: DeviceRequest?) throws {
    try checkLife()
    let phone = try live.phones[udid.text] ?? LivePhone(udid, live.emulator, request)
    live.phones[udid.text] = phone
    for topic in topics { phone.device.install(topic) }
  }

  fileprivate func connect(_ udid: String, _ timeout: Duration) async throws {
    let phone = try livePhone(udid)
    phone.switchOn()
    _ = try await wait(timeout, for: { "\(udid) to connect; \(phone.lastWord)" }) {
      try phone.isComplete() ? true : nil
    }
  }

  fileprivate func disconnect(_ udid: String) async throws {
    try livePhone(udid).device.switchOff()
    guard let name = UDID(udid) else { return }
    _ = try await wait(.seconds(10), for: { "\(udid) to disconnect" }) { [live] in
      live.emulator.isConnected(name) ? nil : true
    }
  }

  fileprivate func isConnected(_ udid: String) -> Bool { UDID(udid).map(live.emulator.isConnected) ?? false }

  fileprivate func token(_ udid: String, _ topic: String) throws -> String {
    let topic = try Topic(checking: topic)
    guard let token = try livePhone(udid).tokens[topic] else {
      throw APNSEmulatorError(.invalid, "\(topic.name) is not installed on \(udid)")
    }
    return token.hex
  }

  fileprivate func nextMessage(_ udid: String, _ timeout: Duration) async throws -> Phone.Message {
    let phone = try livePhone(udid)
    return try await wait(timeout, for: { "a notification on \(udid); \(phone.lastWord)" }) {
      phone.takeMessage()
    }
  }

  fileprivate func messages(_ udid: String) -> [Phone.Message] { live.phones[udid]?.messages ?? [] }

  private func livePhone(_ udid: String) throws -> LivePhone {
    try checkLife()
    guard let phone = live.phones[udid] else {
      throw APNSEmulatorError(.invalid, "there is no phone \(udid); make one with phone(_:apps:)")
    }
    return phone
  }
}

/// A phone on the loop.
package final class LivePhone: PhoneListener {
  package let device: DevicePhone
  private var handedOut = 0
  /// The last thing that it told.
  private(set) var lastWord = "it was never switched on"
  package private(set) var messages: [Phone.Message] = []
  /// Of its apps; of one that is installed again the earlier one, until there is another.
  package private(set) var tokens: [Topic: DeviceToken] = [:]
  /// What there is no token for, as was told since it was switched on.
  private var refused: Set<TokenNeed> = []

  /// A phone that is switched off. Without a request it has no key, and can't connect.
  package init(_ udid: UDID, _ emulator: Emulator, _ request: DeviceRequest?) throws {
    let identity = try request.map { request in
      let certificate = try emulator.certs.signDeviceRequest(
        csrPEM: request.csrPEM, udid: udid, now: Timestamp(nanoseconds: SystemClock.wallNanoseconds()))
      return try DeviceIdentity(certificatePEM: certificate, keyPEM: request.keyPEM)
    }
    let address = emulator.ports["courier"]
    let route = try CourierRoute(loop: emulator.loop, ca: emulator.ports.ca) {
      guard let address else { throw APNSEmulatorError(.refused, "the courier listener is off") }
      return address
    }
    device = DevicePhone(
      [(emulator.options.environment, DeviceState(udid: udid))], identity: identity,
      DeviceTraits(seed: emulator.seed), route, phone: NewPhone())
    device.listener = self
  }

  func switchOn() {
    if !device.isOn { refused = [] }
    device.switchOn()
  }

  /// Whether it is connected with a token for each of its apps.
  func isComplete() throws -> Bool {
    let refused = refused.map(\.topic).filter { topic in device.state.apps.contains { $0.topic == topic } }
    if let topic = refused.min(by: { $0.name < $1.name }) {
      throw APNSEmulatorError(.refused, "the phone has no device token for \(topic.name)")
    }
    return device.isSettled
  }

  /// The next one in order that nobody has had.
  func takeMessage() -> Phone.Message? {
    guard handedOut < messages.count else { return nil }
    handedOut += 1
    return messages[handedOut - 1]
  }

  package func deviceTold(_ event: DeviceEvent, of environment: Environment) {
    lastWord = event.textLine
    switch event {
    case .notification(let notification): messages.append(Phone.Message(notification))
    case .tokenRefused(let need, _) where need.context == nil:
      refused.insert(need)
      tokens[need.topic] = nil
    case .token(let need, let token):
      refused.remove(need)
      if need.context == nil { tokens[need.topic] = token }
    case .app(let topic, .removed): tokens[topic] = nil
    case .erased, .restored: tokens = [:]
    default: break
    }
  }

  package func phoneFailed(_ error: any Error) { lastWord = "\(error)" }
}
