@_exported import enum Advice.AdviceRule
@_exported import struct Advice.Finding
@_exported import enum Advice.Severity
import Broker
@_exported import enum Broker.NotificationState
import Basics
import Console
import Foundation
import PushModel
@_exported import enum PushModel.Environment
@_exported import enum PushModel.Interface
@_exported import enum PushModel.PushType
@_exported import enum PushModel.Rejection

/// A push as the emulator got it from a provider, with what became of it.
///
/// ```swift
/// let push = try await emulator.waitForPush { $0.topic == "com.example.app" }
/// #expect(push.rejection == nil)
/// #expect(push.text.contains("Your order has shipped"))
/// ```
public struct Push: Sendable, Identifiable {
  /// Counts the pushes of this emulator, from 1.
  public let id: UInt64
  /// By the emulator's clock.
  public let receivedAt: Date
  /// How it came: the binary gateway, HTTP/2, or plain HTTP on the console.
  public let interface: Interface
  /// What it is about, usually a bundle id; nil if that is not known.
  public let topic: String?
  /// The token as presented, in hexadecimal.
  public let token: String
  /// The device that the token is of; nil if the token is unknown.
  public let udid: String?
  /// Which of Apple's two environments it came to.
  public let environment: Environment
  /// `apns-push-type`.
  public let pushType: PushType
  /// 1, 5 or 10.
  public let priority: Int
  /// When it is given up; nil if the provider said nothing.
  public let expiration: Date?
  /// `apns-id` of the answer; nil on the binary protocol.
  public let apnsID: String?
  /// `apns-collapse-id`, if there was one.
  public let collapseID: String?
  /// Of the binary protocol; 0 elsewhere.
  public let identifier: UInt32
  /// The bytes as they came; of one that was refused and is larger than any good one, the beginning.
  public let payload: Data
  /// How many bytes there were.
  public let payloadSize: Int
  /// Why it was refused; nil if it was accepted.
  public let rejection: Rejection?
  /// Which rule refused it, what was expected and what came.
  public let explanation: String?
  /// The name of the fault that was injected into it, if one was.
  public let fault: String?
  /// Where it was on its way to the device when this was looked at.
  public let state: NotificationState

  /// Whether the provider heard that all is well.
  public var isAccepted: Bool { rejection == nil }
  /// The payload as text.
  public var text: String { String(decoding: payload, as: UTF8.self) }

  init(_ record: JournalRecord, _ broker: Broker) {
    let detail = broker.journal.detail(record.id)
    (id, receivedAt, interface) = (record.id, Date(record.receivedAt), record.interface)
    (topic, udid) = (record.topicLabel(broker), record.udid(broker)?.text)
    token = Hex.encode(record.presentedToken)
    (environment, pushType) = (record.environment, record.pushType)
    priority = Int(record.priority.rawValue)
    expiration = record.expiration.map { Date(timeIntervalSince1970: Double($0)) }
    apnsID = record.apnsID?.description
    collapseID = record.fields.first { $0.name == "apns-collapse-id" }?.value
    (identifier, payload) = (record.identifier, Data(Array(record.payload)))
    payloadSize = broker.journal.fullSize(record.id)?.payload ?? payload.count
    (rejection, explanation, fault) = (record.rejection, detail?.explanation, detail?.fault?.name)
    state = record.state
  }

  /// For whoever waited for another one.
  var summary: String {
    "\(id): \(topic ?? "no topic") to \(token.prefix(8))… \(rejection?.reason ?? "accepted"), \(state.name)"
  }
}

extension APNSEmulator {
  /// Everything that providers have sent since the beginning (or since `forgetPushes`), oldest first.
  ///
  /// ```swift
  /// #expect(try await emulator.pushes().count == 3)
  /// ```
  public func pushes() throws -> [Push] {
    try checkLife()
    return live.pushes.all
  }

  /// Waits for a push that the closure says yes to; one that came before counts too. It is asked again when something
  /// becomes of a push, so it may wait for a state.
  ///
  /// ```swift
  /// let push = try await emulator.waitForPush { $0.udid == "phone-1" && $0.state == .delivered }
  /// ```
  ///
  /// - Throws: `APNSEmulatorError` with `.timedOut` if none came in time; it tells which ones did.
  public func waitForPush(
    within timeout: Duration = .seconds(5),
    where isWanted: @escaping @Sendable (Push) -> Bool = { _ in true }
  ) async throws -> Push {
    try await waitForPushes(1, within: timeout, where: isWanted)[0]
  }

  /// The same for several pushes, which are answered in the order in which they came.
  ///
  /// ```swift
  /// let pushes = try await emulator.waitForPushes(3) { $0.topic == "com.example.app" }
  /// ```
  public func waitForPushes(
    _ count: Int, within timeout: Duration = .seconds(5),
    where isWanted: @escaping @Sendable (Push) -> Bool = { _ in true }
  ) async throws -> [Push] {
    try checkLife()
    let search = PushSearch(live.pushes, isWanted)
    return try await wait(timeout, for: { search.disappointment(count) }) {
      search.goOn()
      return search.found.count >= count ? Array(search.found.prefix(count)) : nil
    }
  }

  /// What providers were seen to do against Apple's advice since the beginning (or since `forgetPushes`), the worst first:
  /// `Documentation/advice.md` explains each finding.
  ///
  /// Ask once the code under test has sent all that it will: what was lost and has not been sent again by then counts as lost.
  ///
  /// ```swift
  /// #expect(try await emulator.advice(from: .warning).isEmpty)
  /// ```
  ///
  /// - Parameter severity: The least that is told.
  public func advice(from severity: Severity = .note) throws -> [Finding] {
    try checkLife()
    live.emulator.advice.nothingMoreComes()
    return live.emulator.advice.findings().filter { $0.severity >= severity }
  }

  /// Forgets what has come so far, and the advice about it; numbers go on.
  ///
  /// ```swift
  /// await emulator.forgetPushes()
  /// ```
  public func forgetPushes() {
    live.emulator.broker.journal.clear()
    live.emulator.advice.clear()
  }

  /// Sends a push as a provider whose certificate is for its topic would, with the same checks and faults, and answers what
  /// became of it: for tests of what happens on devices.
  ///
  /// ```swift
  /// let push = try await emulator.send(#"{"aps":{"alert":"Hello"}}"#, to: token, topic: "com.example.app")
  /// #expect(push.isAccepted)
  /// ```
  ///
  /// - Throws: `APNSEmulatorError` with `.invalid` if the topic or the token is none, `.timedOut` if a fault holds it up for
  ///   longer.
  @discardableResult
  public func send(
    _ payload: String, to token: String, topic: String, type: PushType? = nil, priority: Int? = nil,
    expiration: Date? = nil, collapseID: String? = nil, within timeout: Duration = .seconds(5)
  ) async throws -> Push {
    try checkLife()
    let topic = try Topic(checking: topic)
    guard let bytes = Hex.decode(token) else {
      throw APNSEmulatorError(.invalid, "expected a device token in hexadecimal digits, got \"\(token)\"")
    }
    var push = TestPush(token: bytes, topic: topic, environment: live.emulator.options.environment)
    push.payload = Array(payload.utf8)
    (push.pushType, push.priority) = (type, priority.map { UInt8(clamping: $0) })
    push.expiration = expiration.map { UInt32(clamping: Timestamp($0).seconds) }
    push.collapseID = collapseID
    let answer = Answer()
    live.emulator.sendTest(push) { answer.id = $0 }
    return try await wait(timeout, for: { "the answer to the push" }) { [live] in
      answer.id.flatMap { live.pushes[$0] }
    }
  }

  /// Which push it was, once it was taken.
  private final class Answer {
    var id: UInt64?
  }
}

/// What providers have sent, as far as the history has it.
final class PushWatch {
  private let broker: Broker

  init(_ broker: Broker) {
    self.broker = broker
    broker.events.turnOn()
  }

  /// Oldest first.
  var all: [Push] { (broker.journal.firstId..<broker.journal.nextId).compactMap { self[$0] } }

  subscript(id: UInt64) -> Push? { broker.journal.shown(id).map { Push($0, broker) } }

  /// What has come or changed since the event of this number; sets it to the next one.
  func changes(since number: inout UInt64) -> [Push] {
    let events = broker.events
    defer { number = events.nextNumber }
    guard number > 0, number >= events.firstNumber else { return all }
    var ids: Set<UInt64> = []
    for event in (number..<events.nextNumber).compactMap({ events[$0] }) {
      if event.kind == .notification || event.kind == .delivery { ids.insert(event.subject) }
    }
    return ids.sorted().compactMap { self[$0] }
  }
}

/// One search on its way: looks at each push when it comes, and again when something becomes of it.
final class PushSearch {
  private let watch: PushWatch
  private let isWanted: (Push) -> Bool
  private var position: UInt64 = 0
  private var known: [UInt64: Push] = [:]

  init(_ watch: PushWatch, _ isWanted: @escaping (Push) -> Bool) {
    (self.watch, self.isWanted) = (watch, isWanted)
  }

  /// Oldest first.
  var found: [Push] { known.values.sorted { $0.id < $1.id } }

  func goOn() {
    for push in watch.changes(since: &position) where known[push.id] == nil && isWanted(push) {
      known[push.id] = push
    }
  }

  /// What came instead.
  func disappointment(_ count: Int) -> String {
    let all = watch.all
    let latest = all.suffix(5).map(\.summary).joined(separator: "; ")
    return "\(count) matching push\(count == 1 ? "" : "es"), got \(known.count); "
      + (all.isEmpty ? "no push came at all" : "all pushes: \(all.count), the latest \(latest)")
  }
}

extension Date {
  init(_ moment: Timestamp) { self.init(timeIntervalSince1970: Double(moment.nanoseconds) / 1e9) }
}

extension Topic {
  package init(checking name: String) throws(APNSEmulatorError) {
    guard let topic = Topic(name) else {
      throw APNSEmulatorError(.invalid, "expected a topic such as com.example.app, got \"\(name)\"")
    }
    self = topic
  }
}

extension UDID {
  package init(checking text: String) throws(APNSEmulatorError) {
    guard let udid = UDID(text) else {
      throw APNSEmulatorError(
        .invalid, "expected a UDID of 1 to 64 letters, digits, dots, dashes or underscores, got \"\(text)\"")
    }
    self = udid
  }
}
