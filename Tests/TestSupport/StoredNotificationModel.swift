import Basics
import Broker
import PushModel

/// What is promised of the last message (`Sources/ARCHITECTURE.md#promises` 2), as nothing but a dictionary: for each token the newest
/// accepted message that was to be kept and has not been delivered. One phone with several apps, and someone who does at random what
/// providers and devices do.
package struct StoredNotificationModel<Service: PushService> {
  private struct Message {
    var number: Int
    var until: Int64
    var once: Bool
  }

  private let service: Service
  private let udid: UDID
  private let topics: [Topic]
  private var tokens: [DeviceToken] = []
  private var choices: SeededChoices
  /// The connection as it was looked at last.
  private var phone: TestDevice?
  private var enabled: Set<Int> = []
  /// The newest accepted message to be kept, by app; nil once delivered or expired.
  private var newest: [Int: Message] = [:]
  /// Newest number that the device has been given, by app.
  private var seen: [Int: Int] = [:]
  private var messages: [Int: Message] = [:]
  /// How many of the phone's messages have been looked at.
  private var looked = 0
  /// Places of messages the phone holds and has not acknowledged.
  private var unacknowledged: [Int] = []
  private var number = 0
  /// Messages that the device was given, as a count.
  package private(set) var delivered = 0

  package init(_ service: Service, seed: UInt64) throws {
    (self.service, choices) = (service, SeededChoices(seed: seed))
    guard let udid = UDID("phone") else { throw ModelViolation("no UDID") }
    (self.udid, topics) = (udid, (0..<6).compactMap { Topic("app.n\($0)") })
    for topic in topics {
      guard let token = try service.change(.install, udid, topic) else {
        throw ModelViolation("no token for \(topic)")
      }
      tokens.append(token)
    }
  }

  /// So many things happen; what is known is compared after each.
  package mutating func run(steps: Int) throws {
    for step in 0..<steps {
      do {
        try act()
        try expire()
        try check()
      } catch { throw ModelViolation("step \(step): \(error)") }
    }
  }

  private mutating func act() throws {
    switch Int.random(in: 0..<20, using: &choices) {
    case 0..<9: try push()
    case 9: try connect()
    case 10: try disconnect()
    case 11, 12: try filter()
    case 13..<18: try acknowledge()
    default: service.pass(nanoseconds: Int64(Int.random(in: 0..<4, using: &choices)) * 1_000_000_000)
    }
    if !(try service.stir(&choices)).isEmpty { forgetPhone() }
  }

  private mutating func push() throws {
    let app = Int.random(in: 0..<topics.count, using: &choices)
    number += 1
    // No two come at the same time, wherever they come in.
    service.pass(nanoseconds: 1000)
    let once = Int.random(in: 0..<5, using: &choices) == 0
    let until = service.now.seconds + Int64(1 + Int.random(in: 0..<30, using: &choices))
    let message = Message(number: number, until: until, once: once)
    messages[number] = message
    var order = PushOrder(token: tokens[app].bytes, topic: topics[app], text: "\(number)")
    order.expiration = once ? 0 : UInt32(until)
    if let rejection = try service.submit(order) {
      throw ModelViolation("\(number) was rejected: \(rejection)")
    }
    if !once { newest[app] = message }
    try look()
  }

  /// What the phone was given since the last look must be allowed.
  private mutating func look() throws {
    guard let phone else { return }
    for received in phone.received[looked...] {
      guard let app = tokens.firstIndex(of: received.token), let number = Int(received.text),
        let message = messages[number]
      else { throw ModelViolation("\(received.text) is from nowhere") }
      func expect(_ isSo: Bool, _ otherwise: String) throws {
        if !isSo { throw ModelViolation("the device got \(number): \(otherwise)") }
      }
      try expect(enabled.contains(app), "topic is off")
      try expect(message.once || number == newest[app]?.number, "not the newest")
      if received.storageFlags == 0 { try expect(number > seen[app] ?? 0, "an older one after a newer") }
      try expect(message.once || message.until > service.now.seconds, "expired")
      seen[app] = max(number, seen[app] ?? 0)
      unacknowledged.append(looked)
      looked += 1
      delivered += 1
    }
  }

  private mutating func connect() throws {
    try service.connect(udid)
    forgetPhone()
    phone = service.phones[udid]
  }

  private mutating func disconnect() throws {
    try service.disconnect(udid)
    forgetPhone()
  }

  private mutating func forgetPhone() { (phone, looked, unacknowledged, enabled) = (nil, 0, [], []) }

  private mutating func filter() throws {
    guard phone != nil else { return }
    enabled = Set(topics.indices.filter { _ in Int.random(in: 0..<2, using: &choices) == 0 })
    let before = looked
    try service.enable(enabled.sorted().map { topics[$0] }, on: udid)
    try look()
    // What was kept comes in the order in which it was sent.
    let given = phone?.received[before...].compactMap { Int($0.text) } ?? []
    guard given == given.sorted() else { throw ModelViolation("kept messages came as \(given)") }
  }

  private mutating func acknowledge() throws {
    guard let phone, !unacknowledged.isEmpty else { return }
    let index = unacknowledged.remove(at: Int.random(in: 0..<unacknowledged.count, using: &choices))
    try service.acknowledge(udid, index)
    for app in topics.indices where newest[app].map({ "\($0.number)" }) == phone.received[index].text {
      newest[app] = nil
    }
  }

  /// The sweep leaves what is in flight, since the device may still acknowledge it; so does the model.
  private mutating func expire() throws {
    try service.sweep()
    let inFlight = Set(unacknowledged.compactMap { index in phone.flatMap { Int($0.received[index].text) } })
    for (app, message) in newest where message.until <= service.now.seconds {
      if !inFlight.contains(message.number) { newest[app] = nil }
    }
  }

  private func check() throws {
    for app in topics.indices {
      let (kept, expected) = (try service.kept(tokens[app], of: udid), newest[app].map { "\($0.number)" })
      guard kept == expected else {
        throw ModelViolation("app \(app) keeps \(kept ?? "nothing"), not \(expected ?? "nothing")")
      }
      // A phone that is there with the topic on has been given what there is.
      guard phone != nil, enabled.contains(app), let newest = newest[app], seen[app] ?? 0 < newest.number
      else { continue }
      throw ModelViolation("app \(app) was not given \(newest.number)")
    }
  }
}
