import Advice
import AdviceFeed
import Basics
import Broker
import LegacyWire
import PushModel
import Transport

/// One reader of the feedback service: writes the list of the certificate's topics straight after the handshake, then
/// ends. The list is cleared once it was written whole (`Documentation/binary-protocol.md#feedback`).
final class FeedbackConnection: ConnectionHandler {
  /// Most tuple bytes in one TLS record: clients parse each chunk alone, so no tuple may cross a record.
  private static let recordLimit = 16_384

  /// What one tuple costs until the list is written, in bytes: its row, time and token.
  private static let tupleBytes = 100

  private let feedback: FeedbackService
  private var rows: [RegistrationID] = []
  private var foreignIds: [Int64] = []
  private var tuples: [FeedbackTuple] = []
  private var nextTuple = 0
  /// The certificate's topic; nil if it names none.
  private var topic: TopicID?

  init(_ feedback: FeedbackService) { self.feedback = feedback }

  func connectionOpened(_ connection: SocketConnection) {
    guard let provider = feedback.identities.identify(connection, listener: "feedback") else {
      return connection.close()
    }
    topic = provider.topic
    let broker = feedback.broker
    rows = broker.feedback.rows(topics: provider.topics, environment: provider.environment)
    let foreign = broker.feedback.foreign(topics: provider.topics, environment: provider.environment)
    foreignIds = foreign.map(\.id)
    tuples = rows.map(tuple) + foreign.map { FeedbackTuple(goneAt: $0.goneAt, token: $0.token) }
    connection.hold(tuples.count * Self.tupleBytes)
    connectionDrained(connection)
  }

  /// Providers have nothing to say here.
  func connection(_ connection: SocketConnection, received bytes: Span<UInt8>) {}

  /// A reader that ends its side at once still gets all of the list.
  func connectionPeerEnded(_ connection: SocketConnection) {}

  /// Writes the next record's worth; after the last one has left, clears and closes.
  func connectionDrained(_ connection: SocketConnection) {
    guard nextTuple < tuples.count else {
      if !rows.isEmpty { feedback.clear(rows) }
      if !foreignIds.isEmpty { feedback.broker.feedback.clearForeign(foreignIds) }
      feedback.wasRead(topic, connection)
      return connection.close()
    }
    connection.send(nextRecord())
    connection.notifyWhenDrained()
  }

  func connectionClosed(_ connection: SocketConnection, reason: String) {}

  private func nextRecord() -> [UInt8] {
    var record: [UInt8] = []
    while nextTuple < tuples.count {
      let tuple = tuples[nextTuple].bytes
      guard record.count + tuple.count <= Self.recordLimit else { break }
      record += tuple
      nextTuple += 1
    }
    return record
  }

  private func tuple(_ row: RegistrationID) -> FeedbackTuple {
    let registration = feedback.broker.registry[row]
    return FeedbackTuple(goneAt: registration.goneAt, token: feedback.broker.registry.bytes(of: row))
  }
}

extension FeedbackTuple {
  fileprivate init(goneAt: Timestamp, token: [UInt8]) {
    self.init(timestamp: UInt32(clamping: goneAt.seconds), token: token)
  }
}

/// What readers of the feedback service share.
final class FeedbackService {
  let broker: Broker
  let identities: ProviderIdentities
  private let others: (any OtherNodes)?

  private let advice: AdviceService

  init(
    broker: Broker, identities: ProviderIdentities, others: (any OtherNodes)?, advice: AdviceService
  ) {
    (self.broker, self.identities, self.others, self.advice) = (broker, identities, others, advice)
  }

  /// All there was has been written to a provider.
  fileprivate func wasRead(_ topic: TopicID?, _ connection: SocketConnection) {
    guard let topic else { return }
    advice.feedbackRead(
      credential: SeenConnection.certificate(broker.registry[topic].label),
      peer: connection.remoteAddress.host)
  }

  fileprivate func clear(_ rows: [RegistrationID]) {
    others?.feedbackWasRead(rows)
    broker.feedback.clear(rows)
  }
}
