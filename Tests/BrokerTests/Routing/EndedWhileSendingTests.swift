import PushModel
import TestSupport
import Testing

import Broker

/// A connection may end while a message is handed to it: a fault breaks it, or memory is short. Nobody but the session holds it then.
@Suite("A device whose connection ends while it is sent something")
struct EndedWhileSendingTests {
  let lab = Lab()

  /// Ends at its first message, and lets go of its session as a connection does.
  private final class Quitter: CourierOutlet {
    let unsentBytes = 0
    let systemQueuedBytes = 0
    private let lab: Lab
    private var session: DeviceSession?

    init(_ lab: Lab) throws {
      self.lab = lab
      let connected = lab.broker.devices.connect(
        try #require(UDID("phone")), keyFingerprint: [], environment: .sandbox, offeredBaseToken: nil,
        link: DeviceLink(outlet: self), now: lab.now)
      session = try #require(connected).session
      lab.broker.devices.setFilter(try #require(session), enabled: [try lab.hash()], now: lab.now)
    }

    func deliver(_ message: OutgoingNotification) -> Int {
      guard let session else { return 0 }
      self.session = nil
      lab.broker.devices.sessionEnded(session, now: lab.now)
      return 0
    }

    func deliver(_: ChannelTable.Broadcast, channel: [UInt8], token: DeviceToken, topic: TopicHash) {}
    func endSession(reason: String) {}
    func appChanged(_ topic: TopicHash, _ change: AppChange) {}
  }

  @Test("lives until the turn is over, and its message is kept again")
  func kept() throws {
    let row = try lab.row()
    let weak = try WeakReference(Quitter(lab))
    #expect(weak.object != nil, "its session holds it")
    let result = lab.submit(row, "hello")
    #expect(result.rejection == nil && !result.isCongested)
    #expect(weak.object != nil, "the turn holds its session")
    #expect(lab.kept(row) == "hello")
    #expect(lab.state(lab.submit(row, "again").id) == .stored)
    _ = lab.broker.deliveries.storeUnsent()
    #expect(weak.object == nil)
  }

  @Test("nothing is kept of a message that is tried once")
  func triedOnce() throws {
    let row = try lab.row()
    let weak = try WeakReference(Quitter(lab))
    #expect(lab.submit(row, "hello", expiration: 0).rejection == nil)
    #expect(lab.kept(row) == nil)
    _ = lab.broker.deliveries.storeUnsent()
    #expect(weak.object == nil)
  }

  private final class WeakReference {
    weak var object: Quitter?
    init(_ object: Quitter) { self.object = object }
  }
}
