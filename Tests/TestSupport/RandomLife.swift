import Basics
import Broker
import PushModel

/// Someone who does at random what providers, devices and people do, to one push service or to several alike; whatever these answer
/// and deliver must be the same.
package struct RandomLife {
  package var choices: SeededChoices
  private let services: [any PushService]
  private let udids: [UDID]
  private let topics: [Topic]
  /// Every token that there ever was, with its topic.
  private var tokens: [(token: DeviceToken, topic: Topic)] = []
  /// Ids of channels are not used twice, as Apple makes them up.
  private var channels: [ChannelName] = []
  /// How much of what each device has got on its connection was compared, as counts.
  private var looked: [(received: Int, heard: Int)]
  /// Pushes, as a count.
  package private(set) var sent = 0
  /// Rejected pushes, entries of the feedback service, broadcasts and messages that devices got, as counts.
  package private(set) var rejected = 0, fedBack = 0, broadcasts = 0, delivered = 0

  package init(_ services: [any PushService], seed: UInt64) {
    (self.services, choices) = (services, SeededChoices(seed: seed))
    udids = (0..<12).compactMap { UDID("phone-\($0)") }
    looked = [(received: Int, heard: Int)](repeating: (0, 0), count: udids.count)
    topics = ["com.example.app", "com.example.news"].compactMap { Topic($0) }
  }

  /// Does it to each, and answers what all of them say.
  private func all<Value: Equatable>(_ body: (any PushService) throws -> Value) throws -> Value {
    let values = try services.map(body)
    guard let first = values.first else { throw ModelViolation("there is no service") }
    guard values.allSatisfy({ $0 == first }) else { throw ModelViolation("answers differ: \(values)") }
    return first
  }

  private mutating func one<Value>(of values: [Value]) -> Value? {
    values.isEmpty ? nil : values[Int(choices.whole(upTo: Int64(values.count - 1)))]
  }

  private mutating func device() -> UDID { one(of: udids) ?? udids[0] }
  private mutating func topic() -> Topic { one(of: topics) ?? topics[0] }

  package mutating func run(steps: Int) throws {
    for step in 0..<steps {
      do { try self.step() } catch { throw ModelViolation("step \(step): \(error)") }
    }
  }

  package mutating func step() throws {
    switch choices.whole(upTo: 23) {
    case 0...2: try connect(device())
    case 3, 4: try disconnect(device())
    case 5...11: try push()
    case 12, 13: try acknowledge(device())
    case 14: try changeApp(device(), topic())
    case 15: try filter(device())
    case 16: try changeChannel()
    case 17, 18: try join(device())
    case 19, 20: try broadcast()
    case 21: try readFeedback(topic())
    case 22: try rest()
    default: try stir()
    }
    for service in services { service.pass(nanoseconds: 1_000_000) }
    try compareDeliveries()
  }

  // MARK: Devices

  private mutating func connect(_ udid: UDID) throws {
    let key = [UInt8(choices.whole(upTo: 1))]
    if let index = udids.firstIndex(of: udid) { looked[index] = (0, 0) }
    guard try all({ try $0.connect(udid, key: key) }) else { return }
    for topic in topics {
      guard let token = try all({ try $0.appToken(udid, topic) }) else { continue }
      note(token, topic)
    }
    try filter(udid)
  }

  private mutating func note(_ token: DeviceToken, _ topic: Topic) {
    if !tokens.contains(where: { $0.token == token }) { tokens.append((token, topic)) }
  }

  private mutating func filter(_ udid: UDID) throws {
    let wanted = choices.unit() < 0.7 ? topics : [topic()]
    _ = try all { try $0.enable(wanted, on: udid) }
  }

  private func disconnect(_ udid: UDID) throws { for service in services { try service.disconnect(udid) } }

  private mutating func acknowledge(_ udid: UDID) throws {
    let count = try all { $0.phones[udid]?.received.count ?? 0 }
    guard count > 0 else { return }
    let index = Int(choices.whole(upTo: Int64(count - 1)))
    let status = UInt8(choices.unit() < 0.8 ? 0 : 1)
    for service in services { try service.acknowledge(udid, index, status: status) }
  }

  private mutating func changeApp(_ udid: UDID, _ topic: Topic) throws {
    guard choices.unit() < 0.9 else { for service in services { try service.erase(udid) }; return }
    let change: AppChange = [.install, .remove, .reinstall][Int(choices.whole(upTo: 2))]
    if let token = try all({ try $0.change(change, udid, topic) }) { note(token, topic) }
  }

  private mutating func join(_ udid: UDID) throws {
    guard let name = one(of: channels) else { return }
    guard choices.unit() < 0.8 else { for service in services { try service.leave(udid, name) }; return }
    let seenUntil = choices.unit() < 0.5 ? services.first?.now : nil
    _ = try all { try $0.join(udid, name, seenUntil: seenUntil) }
  }

  // MARK: Providers

  private mutating func push() throws {
    guard let (token, topic) = one(of: tokens) else { return }
    var order = PushOrder(token: token.bytes, topic: topic, text: "message \(sent)")
    if choices.unit() < 0.05 { order.token[31] ^= 1 }
    if choices.unit() < 0.05 { order.topic = self.topic() }
    order.interface = choices.unit() < 0.5 ? .gateway : .provider
    let now = services.first?.now.seconds ?? 0
    order.expiration = [nil, 0, UInt32(now + choices.whole(upTo: 3))][Int(choices.whole(upTo: 2))]
    if choices.unit() < 0.3 { order.collapseId = "collapse" }
    sent += 1
    if try all({ try $0.submit(order) }) != nil { rejected += 1 }
  }

  private mutating func changeChannel() throws {
    guard choices.unit() < 0.7, channels.count < 200 else {
      guard let name = one(of: channels) else { return }
      _ = try all { try $0.deleteChannel(name) }
      return
    }
    let name = ChannelName(topic: topic(), id: [UInt8(channels.count)])
    channels.append(name)
    let stores = choices.unit() < 0.5
    for service in services { try service.createChannel(name, storesNewest: stores) }
  }

  private mutating func broadcast() throws {
    guard let name = one(of: channels) else { return }
    broadcasts += 1
    let now = services.first?.now.seconds ?? 0
    let expiration = choices.unit() < 0.3 ? 0 : UInt32(now + 1 + choices.whole(upTo: 3600))
    let text = "broadcast \(broadcasts)"
    _ = try all { try $0.broadcast(text, to: name, expiration: expiration) }
  }

  private mutating func readFeedback(_ topic: Topic) throws {
    fedBack += try all { try $0.readFeedback(topic) }.count
  }

  // MARK: Time and chance

  private mutating func rest() throws {
    let time = choices.whole(upTo: 2_000_000_000)
    for service in services {
      service.pass(nanoseconds: time)
      try service.sweep()
    }
  }

  /// Whose connection ends at one of them, ends it at all of them.
  private mutating func stir() throws {
    var ended: Set<UDID> = []
    for service in services { ended.formUnion(try service.stir(&choices)) }
    for udid in ended.sorted(by: { $0.text < $1.text }) { try disconnect(udid) }
  }

  /// Ends all connections.
  package func disconnectAll() throws { for udid in udids { try disconnect(udid) } }

  // MARK: What must be the same

  /// Only what has come since the last look.
  private mutating func compareDeliveries() throws {
    for (index, udid) in udids.enumerated() {
      guard let phone = services[0].phones[udid] else {
        looked[index] = (0, 0)
        continue
      }
      let (before, now) = (looked[index], (received: phone.received.count, heard: phone.broadcasts.count))
      guard now != before else { continue }
      looked[index] = now
      delivered += now.received - before.received
      _ = try all { Array(($0.phones[udid]?.broadcasts ?? []).dropFirst(before.heard)) }
      _ = try all { service in
        (service.phones[udid]?.received ?? []).dropFirst(before.received).map { received in
          var received = received
          // The number of a message on its connection is of no meaning beyond that.
          received.messageId = 0
          return received
        }
      }
    }
  }

  /// What became of all pushes.
  package func compareHistories() throws {
    for number in 0..<sent {
      let states = services.map { $0.state(ofPush: number) }
      guard states.allSatisfy({ $0 == states[0] }) else {
        throw ModelViolation("push \(number) became \(states)")
      }
    }
  }
}
