import PushModel
import TestSupport
import Testing

import Broker

/// Promise 2 against a model that is nothing but a dictionary: for each token the newest accepted message that was to be
/// kept and has not been delivered.
@Suite("The last message against a model")
struct LastMessageModelTests {
  private struct Message {
    var number: Int
    var until: Int64
    var once: Bool
  }

  /// One phone with several apps, and what should be waiting for each.
  private final class World {
    let lab = Lab()
    let names = (0..<6).map { "app.n\($0)" }
    var rows: [RegistrationID] = []
    var phone: Phone?
    var enabled: Set<Int> = []
    /// The newest accepted message to be kept, by app; nil once delivered or expired.
    var newest: [Int: Message] = [:]
    /// Newest number that the device has been given, by app.
    var seen: [Int: Int] = [:]
    var messages: [Int: Message] = [:]
    /// How many of the phone's messages have been looked at.
    var looked = 0
    /// Messages the phone holds and has not acknowledged.
    var unacknowledged: [Int] = []
    var number = 0
  }

  @Test(
    "a device gets the newest, once, never an older one after a newer",
    arguments: 1...20 as ClosedRange<UInt64>)
  func agrees(_ seed: UInt64) throws {
    var random = SeededChoices(seed: seed)
    let world = World()
    world.rows = try world.names.map { try world.lab.row("phone", $0) }
    for step in 0..<1500 {
      try act(world, &random)
      expire(world)
      guard check(world) else {
        Issue.record("step \(step)")
        return
      }
    }
  }

  private func act(_ world: World, _ random: inout SeededChoices) throws {
    switch Int.random(in: 0..<20, using: &random) {
    case 0..<9: push(world, &random)
    case 9: try connect(world)
    case 10: try disconnect(world)
    case 11, 12: try filter(world, &random)
    case 13..<18: acknowledge(world, &random)
    default: world.lab.pass(seconds: Int64(Int.random(in: 0..<4, using: &random)))
    }
  }

  private func push(_ world: World, _ random: inout SeededChoices) {
    let app = Int.random(in: 0..<world.names.count, using: &random)
    world.number += 1
    let once = Int.random(in: 0..<5, using: &random) == 0
    let until = world.lab.now.seconds + Int64(1 + Int.random(in: 0..<30, using: &random))
    let message = Message(number: world.number, until: until, once: once)
    world.messages[world.number] = message
    world.lab.push(world.rows[app], "\(world.number)", expiration: once ? 0 : UInt32(until))
    if !once { world.newest[app] = message }
    look(world)
  }

  /// What the phone was given since the last look must be allowed.
  private func look(_ world: World) {
    guard let phone = world.phone else { return }
    for received in phone.received[world.looked...] {
      guard
        let app = world.rows.firstIndex(where: {
          world.lab.broker.registry[$0].token == received.token
        }),
        let number = Int(received.text), let message = world.messages[number]
      else {
        Issue.record("a message from nowhere")
        return
      }
      #expect(world.enabled.contains(app), "topic is off")
      #expect(message.once || message.number == world.newest[app]?.number, "not the newest")
      if received.storageFlags == 0 { #expect(number > world.seen[app] ?? 0, "an older one after a newer") }
      #expect(message.once || message.until > world.lab.now.seconds, "expired")
      world.seen[app] = max(number, world.seen[app] ?? 0)
      world.unacknowledged.append(world.looked)
      world.looked += 1
    }
  }

  private func connect(_ world: World) throws {
    if world.phone != nil { try disconnect(world) }
    world.phone = try world.lab.connect()
    (world.looked, world.unacknowledged, world.enabled) = (0, [], [])
  }

  private func disconnect(_ world: World) throws {
    guard let phone = world.phone else { return }
    try world.lab.disconnect(phone)
    world.phone = nil
  }

  private func filter(_ world: World, _ random: inout SeededChoices) throws {
    guard let phone = world.phone else { return }
    world.enabled = Set(world.names.indices.filter { _ in Int.random(in: 0..<2, using: &random) == 0 })
    try world.lab.enable(world.enabled.map { world.names[$0] }, on: phone)
    look(world)
  }

  private func acknowledge(_ world: World, _ random: inout SeededChoices) {
    guard let phone = world.phone, !world.unacknowledged.isEmpty else { return }
    let index = world.unacknowledged.remove(
      at: Int.random(in: 0..<world.unacknowledged.count, using: &random))
    world.lab.acknowledge(phone, index)
    for app in world.names.indices
    where world.newest[app].map({ "\($0.number)" }) == phone.received[index].text {
      world.newest[app] = nil
    }
  }

  /// The sweep leaves what is in flight, since the device may still acknowledge it; so does the model.
  private func expire(_ world: World) {
    world.lab.broker.dropExpired(now: world.lab.now, budget: 100)
    for (app, message) in world.newest where message.until <= world.lab.now.seconds {
      guard world.lab.slot(world.rows[app]).state != .inFlight else { continue }
      world.newest[app] = nil
    }
  }

  private func check(_ world: World) -> Bool {
    for app in world.names.indices {
      let kept = world.lab.kept(world.rows[app])
      guard kept == world.newest[app].map({ "\($0.number)" }) else { return false }
      // A phone that is there with the topic on has been given what there is.
      if world.phone != nil, world.enabled.contains(app), let newest = world.newest[app],
        world.seen[app] ?? 0 < newest.number
      {
        return false
      }
    }
    return true
  }
}
