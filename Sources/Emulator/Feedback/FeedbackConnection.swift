import Broker
import LegacyWire
import PushModel
import Transport

/// One reader of the feedback service: writes the list of the certificate's topics straight after the handshake, then
/// ends. The list is cleared once it was written whole (`spec/provider-protocol.md` B).
final class FeedbackConnection: ConnectionHandler {
  /// Most tuple bytes in one TLS record: clients parse each chunk alone, so no tuple may cross a record.
  private static let recordLimit = 16_384

  private let feedback: FeedbackService
  private var rows: [Int32] = []
  private var nextRow = 0

  init(_ feedback: FeedbackService) { self.feedback = feedback }

  func connectionOpened(_ connection: TLSConnection) {
    guard case .provider(let provider) = feedback.identities.identify(connection, listener: "feedback") else {
      return connection.close()
    }
    rows = feedback.broker.feedback(topics: provider.topics, environment: provider.environment)
    connectionDrained(connection)
  }

  /// Providers have nothing to say here.
  func connection(_ connection: TLSConnection, received bytes: UnsafeRawBufferPointer) {}

  /// Writes the next record's worth; after the last one has left, clears and closes.
  func connectionDrained(_ connection: TLSConnection) {
    guard nextRow < rows.count else {
      if !rows.isEmpty { feedback.broker.clearFeedback(rows) }
      return connection.close()
    }
    connection.send(nextRecord())
    connection.notifyWhenDrained()
  }

  func connectionClosed(_ connection: TLSConnection, reason: String) {}

  private func nextRecord() -> [UInt8] {
    var record: [UInt8] = []
    while nextRow < rows.count {
      let tuple = tuple(rows[nextRow]).bytes
      guard record.count + tuple.count <= Self.recordLimit else { break }
      record += tuple
      nextRow += 1
    }
    return record
  }

  private func tuple(_ row: Int32) -> FeedbackTuple {
    let registration = feedback.broker.registry[registration: row]
    return FeedbackTuple(
      timestamp: UInt32(clamping: registration.goneAt.seconds), token: registration.token.bytes)
  }
}

/// What readers of the feedback service share.
final class FeedbackService {
  let broker: Broker
  let identities: ProviderIdentities

  init(broker: Broker, identities: ProviderIdentities) {
    (self.broker, self.identities) = (broker, identities)
  }
}
