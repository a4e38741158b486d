import Broker
import PushModel

/// Does what is asked for in a zone of this node.
public struct RelayCommands {
  private let broker: Broker

  public init(broker: Broker) { self.broker = broker }

  /// Answers what becomes known of it once the turn's changes are in the log.
  public func carryOut(_ action: RelayedCommand.Action) -> RelayedCommand.Outcome {
    switch action {
    case .feedbackRead(let tokens):
      broker.feedback.clear(tokens.compactMap { broker.registry.find($0) })
      return .done
    case .createChannel(let topic, let environment, let id, let storesNewest):
      guard let key = key(topic, environment, id) else { return .noChannel }
      // One that was made when this was asked before is there.
      broker.channels.create(key, storesNewest: storesNewest)
      return broker.channels.storesNewest(key) == nil ? .noChannel : .done
    case .deleteChannel(let topic, let environment, let id):
      return key(topic, environment, id).map { broker.channels.delete($0) } == true ? .done : .noChannel
    case .broadcast(let topic, let environment, let id, let broadcast):
      return key(topic, environment, id).map { broker.broadcast(broadcast, to: $0) } == true
        ? .done : .noChannel
    }
  }

  private func key(_ topic: Topic, _ environment: Environment, _ id: [UInt8]) -> ChannelTable.Key? {
    broker.registry.topic(named: topic).map { ChannelTable.Key(topic: $0, environment: environment, id: id) }
  }
}
