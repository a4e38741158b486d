import Broker
import PushModel
import Storage
import TestSupport
import Testing

@Suite("A store that an earlier tree wrote")
struct StoreOfBeforeTests {
  private let folder = ScratchFolder()

  /// The store, as it was left, in a folder of its own.
  private func loaded() throws -> (Broker, SQLiteStore) {
    try folder.write(TreeBefore.bytes("store.db"), to: "store.db")
    let broker = Broker(derivation: try SeededDerivation(seed: TreeBefore.tokenSeed))
    let store = try SQLiteStore(path: folder.file("store.db"))
    try store.load(into: broker)
    return (broker, store)
  }

  @Test("has all that was put in")
  func reading() throws {
    let (broker, _) = try loaded()
    let expected = try TreeBefore.lines(single: true)
    #expect(broker.stateLines(ids: false).symmetricDifference(expected).sorted() == [])
    #expect(broker.feedback.rows.map { broker.registry.text(of: $0) } == [String(repeating: "3", count: 64)])
    #expect(broker.turn.takeChanges().isEmpty, "what was read is not news")
  }

  @Test("is written by this one as it was")
  func writing() throws {
    let (broker, _) = try loaded()
    var all = broker.turn.takeChanges()
    #expect(all.isEmpty)
    all.topics = Array(TopicID.rows(below: broker.registry.topicCount))
    all.devices = Array(DeviceID.rows(below: broker.registry.deviceCount))
    all.registrations = Array(RegistrationID.rows(below: broker.registry.registrationCount))
    // In the order in which they were kept.
    all.notifications = [0, 5, 9, 8]
    all.channels = broker.channels.rowNumbers
    for device in all.devices {
      all.subscriptions += broker.channels.rows(of: device).map {
        StoredSubscription(device: device, channel: $0)
      }
    }
    do { try SQLiteStore(path: folder.file("again.db")).commit(all, of: broker) }
    let (old, new) = (TreeBefore.path("store.db"), folder.file("again.db"))
    for (table, count) in [
      ("topic", 6), ("device", 4), ("registration", 10), ("channel", 2), ("subscription", 2),
      ("token_context", 2), ("chosen_token", 3),
    ] {
      let rows = try Raw.rows(old, table)
      let written = try Raw.rows(new, table)
      #expect(rows.count == count && rows == written, "\(table)")
    }
    #expect(try entries(new) == entries(old))
  }

  /// Of the message log, whatever the segments they are in.
  private func entries(_ path: String) throws -> String {
    try Raw.rows(path, "message_log").map { row in
      String(row.split(separator: " ")[1].dropFirst(2).dropLast())
    }.joined()
  }
}
