import Basics
import Broker
import PushModel

/// The phones of simulated devices: how each is, what has happened on it, and who waits for what it does.
///
/// It has no socket and no clock: connections of devices tell it of phones (`connected`, `told`, `disconnected`), the console
/// asks (`order`, `queue`, `json`). A phone that is offline is remembered until there is no room.
package final class PhoneBoard {
  /// What all phones may take, in bytes; whoever was heard longest ago is forgotten.
  package static let byteLimit = 64 << 20
  /// Orders on their way, as a count: to one phone, and in all.
  package static let ordersOfOne = 64
  package static let orderLimit = 512

  /// How an order ended.
  package enum Answer {
    /// What happened on the phone, a JSON array.
    case done(events: JSONValue)
    /// The phone says why not.
    case refused(String)
    /// Its device went away before it had answered.
    case gone
  }

  private struct Order {
    let udid: UDID
    let done: (Answer) -> Void
  }

  private let broker: Broker
  private let now: () -> Timestamp
  private let publish: (_ event: String, _ members: [(String, JSONValue)]) -> Void
  private var phones: [UDID: PhoneRecord] = [:]
  private var orders: [UInt32: Order] = [:]
  private var lastNumber: UInt32 = 0
  private var heard: UInt64 = 0
  private var byteCount = 0

  /// `publish` tells those who watch of what happens, in order.
  package init(
    _ broker: Broker, now: @escaping () -> Timestamp,
    publish: @escaping (_ event: String, _ members: [(String, JSONValue)]) -> Void
  ) { (self.broker, self.now, self.publish) = (broker, now, publish) }

  // MARK: Devices

  /// A device that has a phone is there. The newest connection counts.
  package func connected(_ udid: UDID, _ link: any PhoneLink) {
    end(ordersTo: udid)
    change(udid) { $0.connected(link) }
    deliverQueue(udid)
  }

  /// A connection of the device has gone. Orders by another go on.
  package func disconnected(_ udid: UDID, _ link: any PhoneLink) {
    guard phones[udid]?.has(link) == true else { return }
    var wasNewest = false
    change(udid) { wasNewest = $0.disconnected(link) }
    guard wasNewest else { return }
    end(ordersTo: udid)
    guard phones[udid]?.link == nil else { return }
    if phones[udid]?.isEmpty == true { forget(udid) }
  }

  /// Whether a report of a device answers an order.
  package func awaits(_ telling: PhoneTelling, from udid: UDID, _ link: any PhoneLink) -> Bool {
    telling.number.flatMap { orders[$0] }?.udid == udid && phones[udid]?.has(link) == true
  }

  /// A device tells of its phone; false if nobody asked it.
  @discardableResult
  package func told(_ telling: PhoneTelling, by udid: UDID, _ link: any PhoneLink) -> Bool {
    guard phones[udid]?.has(link) == true else { return false }
    let events = Self.events(telling.events)
    take(telling, events.compactMap(PhoneHappening.init), by: udid)
    guard let number = telling.number, orders[number]?.udid == udid,
      let order = orders.removeValue(forKey: number)
    else { return false }
    order.done(telling.problem.map { .refused($0) } ?? .done(events: .array(events)))
    return true
  }

  private static func events(_ text: [UInt8]) -> [JSONValue] {
    guard !text.isEmpty, case .array(let events)? = JSONReader.read(text, maximumDepth: JSONText.maximumDepth)
    else { return [] }
    return events
  }

  /// What is no object can't be shown as one.
  private static func document(_ text: [UInt8]) -> [UInt8]? {
    guard text.first == UInt8(ascii: "{") else { return nil }
    return JSONText.compact(text)
  }

  private func take(_ telling: PhoneTelling, _ entries: [PhoneHappening], by udid: UDID) {
    heard += 1
    let document = Self.document(telling.document)
    let isOther = document != nil && document != phones[udid]?.document
    var all = entries
    if telling.lost > 0 { all.insert(lostEntry(telling.lost), at: 0) }
    if let problem = telling.problem, telling.number == nil {
      all.append(PhoneHappening("problem", at: now(), reason: problem))
    }
    change(udid) { phone in
      phone.heard = heard
      if let document { phone.document = document }
      for happening in all { phone.add(happening.json) }
    }
    for happening in all { happened(happening, udid) }
    if all.isEmpty, isOther { publish("phone", [("udid", .string(udid.text)), ("change", "document")]) }
  }

  private func lostEntry(_ count: UInt32) -> PhoneHappening {
    PhoneHappening(
      "lost", at: now(),
      reason:
        "\(count) event\(count == 1 ? "" : "s") came too fast and \(count == 1 ? "was" : "were") dropped")
  }

  private func happened(_ happening: PhoneHappening, _ udid: UDID) {
    if let id = happening.notificationId {
      broker.devices.phoneTold(happening.step, of: id, on: udid, now: now())
    }
    let (name, members) = happening.streamed(udid)
    publish(name, members)
  }

  // MARK: People

  /// Whether the device is there, and has a phone.
  package func isConnected(_ udid: UDID) -> Bool { phones[udid]?.link != nil }

  /// What a phone says of itself, as the API shows it; nil if it never has.
  package func json(_ udid: UDID) -> JSONValue? {
    guard let phone = phones[udid], !phone.document.isEmpty else { return nil }
    return phone.json(udid)
  }

  /// Whether a phone can be sent another order.
  package func hasRoom(_ udid: UDID) -> Bool {
    orders.count < Self.orderLimit && orders.values.count { $0.udid == udid } < Self.ordersOfOne
  }

  /// Sends an order, a JSON object, to a phone that is connected; answers its number. `done` is called once, unless it is
  /// withdrawn before.
  @discardableResult
  package func order(_ order: JSONValue, to udid: UDID, _ done: @escaping (Answer) -> Void) -> UInt32? {
    guard let link = phones[udid]?.link else { return nil }
    lastNumber &+= 1
    orders[lastNumber] = Order(udid: udid, done: done)
    link.order(order.encoded, number: lastNumber)
    return lastNumber
  }

  /// Nobody waits for the answer any more.
  package func withdraw(_ number: UInt32) { orders[number] = nil }

  private func end(ordersTo udid: UDID) {
    for (number, order) in orders where order.udid == udid {
      orders[number] = nil
      order.done(.gone)
    }
  }

  // MARK: Settings that wait

  /// Keeps settings, a JSON object, for a phone that is offline; false if there is no room.
  package func queue(_ settings: JSONValue, for udid: UDID) -> Bool {
    var isTaken = false
    change(udid) { isTaken = $0.queue.add(settings) }
    return isTaken
  }

  private func deliverQueue(_ udid: UDID) {
    guard let phone = phones[udid], case .object(let members) = phone.queue.json else { return }
    order(.object([("do", "settings")] + members), to: udid) { [unowned self] answer in
      delivered(answer, udid)
    }
  }

  private func delivered(_ answer: Answer, _ udid: UDID) {
    // It went away: next time, then.
    if case .gone = answer { return }
    let reason =
      if case .refused(let sentence) = answer {
        "the settings made while the phone was offline are refused: \(sentence)"
      } else {
        "the settings made while the phone was offline are in force"
      }
    let happening = PhoneHappening("settings", at: now(), reason: reason)
    change(udid) { phone in
      phone.queue = PhoneQueue()
      phone.add(happening.json)
    }
    happened(happening, udid)
  }

  // MARK: Room

  /// Starts over: nothing is known of any phone until it tells.
  package func forgetAll() {
    for udid in Array(phones.keys) { forget(udid) }
  }

  /// What happened is forgotten; how the phones are is not.
  package func forgetLogs() {
    for udid in Array(phones.keys) { change(udid) { $0.forgetLog() } }
  }

  private func forget(_ udid: UDID) {
    byteCount -= phones[udid]?.byteCount ?? 0
    // One that is connected goes on, as one that has told nothing.
    if phones[udid]?.link == nil { phones[udid] = nil } else { phones[udid]?.forgetAll() }
    byteCount += phones[udid]?.byteCount ?? 0
  }

  private func change(_ udid: UDID, _ body: (inout PhoneRecord) -> Void) {
    byteCount -= phones[udid]?.byteCount ?? 0
    body(&phones[udid, default: PhoneRecord()])
    byteCount += phones[udid]?.byteCount ?? 0
    while byteCount > Self.byteLimit, let oldest = oldest(but: udid) { forget(oldest) }
  }

  /// The one that was heard longest ago, of those that there is something to forget of.
  private func oldest(but udid: UDID) -> UDID? {
    phones.filter { $0.key != udid && (!$0.value.isEmpty || $0.value.link == nil) }
      .min { $0.value.heard < $1.value.heard }?.key
  }
}
