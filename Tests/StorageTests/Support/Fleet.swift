import Basics
import Broker
import PushModel
import Storage
import TestSupport
import Testing

/// A broker with devices that are offline, and a store beneath it.
final class Fleet {
  static let topic = "com.example.app"
  var broker: Broker
  var store: SQLiteStore
  var now = Timestamp(seconds: 1_700_000_000)

  init(path: String) throws {
    store = try SQLiteStore(path: path)
    broker = Broker(derivation: FakeDerivation())
    try store.load(into: broker)
  }

  /// A process that dies here leaves only what was committed; opening the file again shows what that is.
  func restart() throws {
    let path = store.path
    store = try closed { try SQLiteStore(path: path) }
    broker = Broker(derivation: FakeDerivation())
    try store.load(into: broker)
  }

  /// The old store must let go of the file before the new one opens it.
  private func closed(_ open: () throws -> SQLiteStore) throws -> SQLiteStore {
    let stand = ScratchFolder()
    store = try SQLiteStore(path: stand.file("store.db"))
    return try open()
  }

  func commit() throws { try store.commit(broker.turn.takeChanges(), of: broker) }

  /// Registers `count` devices with one app each; rows are numbered from 0 in order.
  func register(_ count: Int, from first: Int = 0) throws {
    let name = try #require(Topic(Self.topic))
    let topic = try #require(broker.registry.topic(named: name))
    for number in first..<first + count {
      guard let udid = UDID("device-\(number)"), let device = broker.registry.device(udid, now: now) else {
        continue
      }
      _ = broker.apps.change(.install, device: device, topic: topic, environment: .sandbox, now: now)
    }
  }

  /// Pushes to the token of a row; answers the notification's id.
  @discardableResult
  func push(
    _ row: RegistrationID, _ text: String, expiration: UInt32? = nil, apnsID: APNSID? = nil,
    type: PushType? = nil, saysPriority: Bool = true, collapseId: String = ""
  ) -> UInt64 {
    let (token, payload) = (broker.registry[row].token.bytes, Array(text.utf8))
    let collapseId = Array(collapseId.utf8)
    var submission = PlainSubmission(
      interface: .gateway, topic: broker.registry[row].topic, environment: .sandbox, token: token.span,
      payload: payload.span)
    submission.expiration = expiration
    (submission.apnsID, submission.pushType, submission.saysPriority) = (apnsID, type, saysPriority)
    submission.collapseId = collapseId.span
    return broker.routing.submit(submission, detail: nil, now: now).id
  }

  func kept(_ row: RegistrationID) -> String? {
    broker.deliveries.stored(row).map { $0.payload.text }
  }
}
