import Basics
import Broker
import Platform
import ProviderAPI
import PushModel

/// The broker's channels as the provider checks see them. Ids are base64 of 16 random bytes, as long as Apple's.
package final class BrokerChannels: ChannelDirectory {
  private let broker: Broker
  private let withoutBroadcast: Set<Topic>
  private var floods: FloodGate<ChannelTable.Key>
  private let ids: APNSIDGenerator
  private let others: (any OtherNodes)?
  /// What another node was asked for since this was taken last.
  private var asked: OutstandingChange?

  init(
    broker: Broker, seed: UInt64, withoutBroadcast: Set<Topic>, floodLimit: Int?, others: (any OtherNodes)?
  ) {
    (self.broker, self.withoutBroadcast, self.others) = (broker, withoutBroadcast, others)
    floods = FloodGate(limit: floodLimit)
    ids = APNSIDGenerator(seed: seed &+ 1)
  }

  /// Every app has the capability unless the operator took it away: there is no portal to switch it on in.
  package func isBroadcastEnabled(_ bundle: Topic, _ environment: Environment) -> Bool {
    !withoutBroadcast.contains(bundle)
  }

  package func createChannel(
    _ bundle: Topic, _ environment: Environment, storage: ChannelStorage, team: String?
  ) throws(ChannelsFull) -> ChannelID {
    guard let topic = broker.registry.topic(named: bundle) else { throw .topics(limit: Registry.topicLimit) }
    try checkRoom(topic, environment, team)
    let key = freshKey(topic, environment)
    guard broker.channels.create(key, storesNewest: storage == .newest),
      let id = ChannelID(Base64.encode(key.id))
    else { throw .ofAll(limit: ChannelTable.limit) }
    if let team { broker.registry.noteFirstUse(of: topic, by: team) }
    ask(key, storage == .newest) { [broker] isDone in
      if !isDone { _ = broker.channels.delete(key) }
    }
    return id
  }

  private func checkRoom(_ topic: TopicID, _ environment: Environment, _ team: String?) throws(ChannelsFull) {
    guard broker.channels.count(topic, environment) < ChannelLimits.channels else {
      throw .ofBundle(limit: ChannelLimits.channels)
    }
    guard team.map({ broker.registry.mayUse(topic, team: $0) }) != false else {
      throw .topicsOfTeam(limit: broker.registry.topicsPerTeam)
    }
  }

  /// After a restart with the same seed the first ids come again, and channels of the time before have them.
  private func freshKey(_ topic: TopicID, _ environment: Environment) -> ChannelTable.Key {
    var key = ChannelTable.Key(topic: topic, environment: environment, id: [])
    repeat {
      let words = APNSID.words(ids.next())
      key.id = [UInt8](capacity: 16) { id in
        id.append(native: words.0)
        id.append(native: words.1)
      }
    } while broker.channels.storesNewest(key) != nil || others?.mayName(channel: key.id) == false
    return key
  }

  package func storage(of channel: ChannelID, _ bundle: Topic, _ environment: Environment) -> ChannelStorage?
  {
    key(channel, bundle, environment).flatMap { broker.channels.storesNewest($0) }.map {
      $0 ? .newest : .none
    }
  }

  package func deleteChannel(_ channel: ChannelID, _ bundle: Topic, _ environment: Environment) -> Bool {
    guard let key = key(channel, bundle, environment) else { return false }
    let isAsked = ask(key, nil) { [broker] isDone in
      if isDone { _ = broker.channels.delete(key) }
    }
    return isAsked || broker.channels.delete(key)
  }

  @discardableResult
  private func ask(_ key: ChannelTable.Key, _ storesNewest: Bool?, then: @escaping (Bool) -> Void) -> Bool {
    guard let others else { return false }
    let change = OutstandingChange()
    let isAsked = others.change(key, storesNewest: storesNewest) {
      then($0)
      change.settle($0)
    }
    if isAsked { asked = change }
    return isAsked
  }

  /// What the request that was carried out just now waits for; nil if nothing.
  func takeAsked() -> OutstandingChange? {
    defer { asked = nil }
    return asked
  }

  package func isFlooded(_ channel: ChannelID, _ bundle: Topic, _ environment: Environment) -> Bool {
    key(channel, bundle, environment).map { floods.isOver($0, SystemClock.now()) } ?? false
  }

  package func channels(_ bundle: Topic, _ environment: Environment) -> [ChannelID] {
    guard let topic = broker.registry.knownTopic(named: bundle) else { return [] }
    return broker.channels.ids(topic, environment).compactMap { ChannelID(Base64.encode($0)) }
  }

  func key(_ channel: ChannelID, _ bundle: Topic, _ environment: Environment) -> ChannelTable.Key? {
    guard let topic = broker.registry.knownTopic(named: bundle), let id = Base64.decode(channel.text.utf8)
    else {
      return nil
    }
    return ChannelTable.Key(topic: topic, environment: environment, id: id)
  }
}

/// A channel that another node makes or deletes.
final class OutstandingChange {
  private var isDone: Bool?
  /// Hears whether it was done, at once if that is known: who made the request asks when it was carried out (`takeAsked`).
  var then: ((Bool) -> Void)? {
    didSet { if let isDone { then?(isDone) } }
  }

  fileprivate func settle(_ isDone: Bool) {
    self.isDone = isDone
    then?(isDone)
  }
}
