import Basics
import Broker
import Platform
import PushModel
import TestSupport
import Zones

@testable import Cluster

/// Two nodes that relay pushes to each other, on links that delay, refuse, stall and are cut, with a NATS server that lets them
/// wait, while zones move and nodes die: all in virtual time, and the same for the same seed.
///
/// A push counts as done when a device gets it. Each device is connected at both nodes, so that it is seen wherever it is done.
final class RelaySimulation {
  /// Virtual time of a schedule, in steps of a tenth of a second, and the calm after it.
  private static let steps = 40, calmSteps = 60
  private static let step: Int64 = 100_000_000
  private static let timeout: Int64 = 12 * step
  private static let pushes = 14

  /// A connection of one node to another, as both see it.
  private final class Link {
    let edge: Int, leader: Int
    /// When it comes to be, or is refused.
    let opensAt: Int
    let isRefused: Bool
    var isOpen = false
    /// The side has noticed that it is cut.
    var isCutAtEdge = false, isCutAtLeader = false
    /// When the edge notices what the leader has already.
    var noticedAt: Int?
    /// What was to be said before it was there.
    var early: [Request] = []
    /// What the leader's clock said last, as the edge knows.
    var heard: UInt64 = 0
    var gate = LeaderGate(timeout: RelaySimulation.timeout)
    var requests: [(at: Int, bytes: [UInt8])] = []
    var replies: [(at: Int, bytes: [UInt8])] = []
    var requestDecoder = LinkDecoder()
    var replyDecoder = LinkDecoder()

    init(edge: Int, leader: Int, opensAt: Int, isRefused: Bool) {
      (self.edge, self.leader, self.opensAt, self.isRefused) = (edge, leader, opensAt, isRefused)
    }
  }

  /// What a desk wants to have said.
  private struct Request {
    var message: [UInt8]
    var since: Instant
    var attempt: UInt32
  }

  private struct Push {
    var edge: Int
    var zone: Int
    var isGood: Bool
    /// The nodes' lives in which it was submitted: what its node has forgotten nobody answers.
    var life: Int
    var times = 0
    var answer: Rejection??
  }

  private var choices: SeededChoices
  private let nodes: [RelayNode]
  private var links: [Link] = []
  private var time = 0
  private var leaders: [Int?]
  /// Who begins to own a zone, and when nodes hear of it.
  private var beginnings: [(at: Int, zone: Int, node: Int)] = []
  private var news: [(at: Int, node: Int, zone: Int, leader: Int)] = []
  /// What waits for NATS, node by node, in order.
  private var outputs: [[(at: Int, link: Link, bytes: [UInt8])]]
  private var slowUntil: [Int]
  private var lives: [Int]
  private var pushed: [Push] = []
  /// Numbers of pushes, in the order in which they were done and answered.
  private var done: [Int] = []
  private var answered: [Int] = []
  private var violation: ModelViolation?
  /// What was tried, as counts.
  private(set) var tried = Tried()

  struct Tried {
    var relayed = 0, unknown = 0, refused = 0, cuts = 0, moves = 0, deaths = 0
  }

  init(seed: UInt64, nodes: [RelayNode]) {
    (choices, self.nodes) = (SeededChoices(seed: seed), nodes)
    let zones = RelayNode.zones
    leaders = (0..<zones).map { $0 % nodes.count }
    outputs = nodes.map { _ in [] }
    (slowUntil, lives) = (nodes.map { _ in 0 }, nodes.map { _ in 0 })
    for index in nodes.indices { begin(index) }
  }

  func run() throws {
    while time < Self.steps + Self.calmSteps {
      time += 1
      if !isCalm { disturb() }
      moveZones()
      carry()
      for index in nodes.indices { tick(index) }
      if let violation { throw violation }
      if isCalm, pushed.allSatisfy({ $0.answer != nil || $0.life != lives[$0.edge] }),
        links.allSatisfy({ isIdle($0) })
      {
        break
      }
    }
    try checkEnd()
  }

  private var isCalm: Bool { time > Self.steps }
  private var now: Timestamp {
    Timestamp(seconds: 1_800_000_000).adding(nanoseconds: Int64(time) * Self.step)
  }
  private var instant: Instant { Instant(nanoseconds: Int64(time) * Self.step) }
  private func happens(_ probability: Double) -> Bool { !isCalm && choices.unit() < probability }
  private func whole(_ limit: Int) -> Int { Int(choices.whole(upTo: Int64(limit))) }
  private func fail(_ sentence: String) { violation = violation ?? ModelViolation("at \(time): \(sentence)") }
  private func isIdle(_ link: Link) -> Bool {
    link.isCutAtEdge || link.requests.isEmpty && link.replies.isEmpty
  }

  // MARK: What goes wrong

  private func disturb() {
    if pushed.count < Self.pushes, happens(0.6) {
      submit(whole(nodes.count - 1), zone: whole(RelayNode.zones - 1))
    }
    if happens(0.05) { slowUntil[whole(nodes.count - 1)] = time + whole(6) }
    if happens(0.05) { move(whole(RelayNode.zones - 1)) }
    if happens(0.05), let link = links.filter({ $0.isOpen && !$0.isCutAtEdge }).first { cut(link) }
    if happens(0.01) { die(whole(nodes.count - 1)) }
  }

  /// One side notices at once, the other later; what is on its way may still come.
  private func cut(_ link: Link) {
    tried.cuts += 1
    if choices.unit() < 0.5 {
      lose(link)
    } else {
      link.isCutAtLeader = true
      link.noticedAt = time + whole(8)
    }
  }

  private func lose(_ link: Link) {
    guard !link.isCutAtEdge else { return }
    let wasOpen = link.isOpen
    (link.isCutAtEdge, link.replies, link.early) = (true, [], [])
    // The leader has what was received, perhaps cut within a message.
    if let last = link.requests.popLast(), choices.unit() < 0.5 {
      link.requests.append((last.at, Array(last.bytes.prefix(whole(last.bytes.count)))))
    }
    nodes[link.edge].desk?.lose(nodes[link.leader].name, wasOpen: wasOpen, now: now)
    nodes[link.edge].desk?.release(now: now)
    drain()
  }

  /// A node ends, and is there again at once: it knows nothing of what it had relayed, and what waited for NATS is not said.
  private func die(_ index: Int) {
    tried.deaths += 1
    nodes[index].desk = nil
    outputs[index] = []
    lives[index] += 1
    for link in links where link.edge == index {
      (link.isCutAtEdge, link.replies, link.early) = (true, [], [])
    }
    for link in links where link.leader == index && !link.isCutAtLeader {
      (link.isCutAtLeader, link.requests, link.noticedAt) = (true, [], time + whole(5))
    }
    for zone in leaders.indices where leaders[zone] == index { hand(zone, to: 1 - index, from: index) }
    begin(index)
  }

  private func move(_ zone: Int) {
    guard let leader = leaders[zone] else { return }
    tried.moves += 1
    hand(zone, to: 1 - leader, from: leader)
  }

  private func hand(_ zone: Int, to heir: Int, from leader: Int) {
    leaders[zone] = nil
    nodes[leader].led[zone] = false
    nodes[leader].seen[zone] = nil
    beginnings.append((time + whole(6), zone, heir))
  }

  private func moveZones() {
    for beginning in beginnings where beginning.at <= time {
      leaders[beginning.zone] = beginning.node
      nodes[beginning.node].led[beginning.zone] = true
      for index in nodes.indices { news.append((time + whole(6), index, beginning.zone, beginning.node)) }
    }
    beginnings.removeAll { $0.at <= time }
    for item in news where item.at <= time { nodes[item.node].seen[item.zone] = item.leader }
    news.removeAll { $0.at <= time }
  }

  // MARK: Nodes

  private func begin(_ index: Int) {
    let node = nodes[index]
    let life = lives[index]
    for zone in leaders.indices {
      node.led[zone] = leaders[zone] == index
      node.seen[zone] = leaders[zone]
    }
    node.desk = EdgePushes(
      node.broker, RelayNode.map, limit: 1 << 20, timeout: Self.timeout,
      .init(
        seat: { [unowned self] in seat(Int($0), at: index) },
        send: { [unowned self] in
          send(Request(message: $0, since: $1, attempt: $2), from: index, to: $3.name)
        },
        settled: { [unowned self] in if lives[index] == life { answer($0.ticket, $1.rejection) } }))
  }

  private func seat(_ zone: Int, at index: Int) -> ZoneSeat {
    if nodes[index].led[zone] { return .here }
    guard let leader = nodes[index].seen[zone], leader != index else { return .nowhere }
    return .at(nodes[leader].peer)
  }

  private func mayDecide(_ zone: Int, at index: Int) -> Bool {
    nodes[index].led[zone] && slowUntil[index] <= time
  }

  private func submit(_ index: Int, zone: Int) {
    let (node, number) = (nodes[index], pushed.count)
    let isGood = choices.unit() < 0.9
    pushed.append(Push(edge: index, zone: zone, isGood: isGood, life: lives[index]))
    node.withPush(number, zone: zone, isGood: isGood) { push in
      guard let place = node.desk?.place(of: push) else { return }
      if !place.isHere {
        _ = node.desk?.relay(push, nil, at: place, for: number, now: now, since: instant)
        tried.relayed += 1
      } else if slowUntil[index] > time {
        // Its provider waits; it is as if it came later.
        pushed.removeLast()
      } else {
        answer(number, node.broker.routing.submit(push, detail: nil, now: now).rejection)
      }
    }
    drain()
  }

  private func answer(_ number: Int, _ rejection: Rejection?) {
    drain()
    guard pushed[number].answer == nil else { return fail("push \(number) is answered twice") }
    pushed[number].answer = .some(rejection)
    answered.append(number)
    switch rejection {
    case nil where pushed[number].times != 1:
      fail("push \(number) is accepted, and was done \(pushed[number].times) times")
    case .serviceUnavailable?, .shutdown?: tried.unknown += 1
    default: break
    }
  }

  private func tick(_ index: Int) {
    nodes[index].desk?.giveUpOverdue(instant, now: now)
    nodes[index].desk?.release(now: now)
    drain()
  }

  /// What devices have got since the last look.
  private func drain() {
    for node in nodes {
      for number in node.takeReceived(now) {
        pushed[number].times += 1
        if pushed[number].times > 1 { fail("push \(number) was done twice") }
        done.append(number)
      }
    }
  }

  // MARK: Links

  private func send(_ request: Request, from edge: Int, to peer: String) {
    LinkFrame.withPush(in: request.message) { relayed in
      guard let relayed else { return }
      let number = relayed.push.payload.withUnsafeBytes { Int(RelayNode.number(in: $0)) }
      if pushed[number].answer != nil { fail("push \(number) is sent, and its provider was answered") }
    }
    guard let leader = nodes.firstIndex(where: { $0.name == peer }) else {
      return fail("there is no \(peer)")
    }
    if let link = links.first(where: { $0.edge == edge && $0.leader == leader && !$0.isCutAtEdge }) {
      guard link.isOpen else { return link.early.append(request) }
      return transmit(request, on: link)
    }
    let link = Link(edge: edge, leader: leader, opensAt: time + whole(3), isRefused: happens(0.2))
    link.early = [request]
    links.append(link)
  }

  private func transmit(_ request: Request, on link: Link) {
    guard !link.isCutAtLeader else { return }
    let age = UInt64(clamping: instant.nanoseconds(since: request.since))
    var message = request.message
    LinkStamp(heard: link.heard, age: age, attempt: request.attempt).mark(&message)
    link.requests.append((arrival(behind: link.requests.last?.at), message))
  }

  /// Leaders say what time it is.
  private func tellTime() {
    guard time % 5 == 0 else { return }
    for link in links where link.isOpen && !link.isCutAtLeader {
      reply(.time(LeaderGate.time(instant)), on: link, after: 0)
    }
  }

  /// It leaves when NATS has what is before it.
  private func reply(_ reply: LinkFrame.Reply, on link: Link, after steps: Int) {
    let ready = max(outputs[link.leader].last?.at ?? 0, max(slowUntil[link.leader], time + steps))
    outputs[link.leader].append((ready, link, LinkFrame.bytes(of: reply)))
  }

  /// In order, and at times only after everybody's timeout has ended.
  private func arrival(behind last: Int?) -> Int {
    max(last ?? 0, time + whole(isCalm ? 1 : 3) + (happens(0.03) ? 20 : 0))
  }

  private func carry() {
    tellTime()
    for link in links {
      if !link.isOpen, !link.isCutAtEdge, link.opensAt <= time { open(link) }
      while let first = link.requests.first, first.at <= time {
        link.requests.removeFirst()
        receive(first.bytes, on: link)
      }
    }
    for index in nodes.indices {
      while let first = outputs[index].first, first.at <= time {
        outputs[index].removeFirst()
        guard !first.link.isCutAtLeader, !first.link.isCutAtEdge else { continue }
        first.link.replies.append((arrival(behind: first.link.replies.last?.at), first.bytes))
      }
    }
    for link in links {
      while !link.isCutAtEdge, let first = link.replies.first, first.at <= time {
        link.replies.removeFirst()
        hear(first.bytes, on: link)
      }
      if let noticedAt = link.noticedAt, noticedAt <= time { lose(link) }
    }
    links.removeAll { $0.isCutAtEdge && $0.requests.isEmpty }
  }

  private func open(_ link: Link) {
    guard !link.isRefused else { return lose(link) }
    (link.isOpen, link.heard) = (true, LeaderGate.time(instant))
    for request in link.early { transmit(request, on: link) }
    link.early = []
  }

  private func receive(_ bytes: [UInt8], on link: Link) {
    let node = nodes[link.leader]
    let leader = ZoneLeader(node.broker) { [unowned self] in mayDecide(Int($0), at: link.leader) }
    do {
      try link.requestDecoder.requests(in: bytes.span) { request in
        guard case .push(let relayed) = request else { return fail("a node is asked for something else") }
        let outcome = leader.decide(relayed, &link.gate, now: now, at: instant)
        if outcome == .notMine { tried.refused += 1 }
        drain()
        reply(.verdict(LinkVerdict(number: relayed.number, outcome)), on: link, after: whole(2))
      }
    } catch { fail("\(error)") }
  }

  private func hear(_ bytes: [UInt8], on link: Link) {
    do {
      try link.replyDecoder.replies(in: bytes.span) { reply in
        switch reply {
        case .verdict(let verdict):
          nodes[link.edge].desk?.take(verdict, from: nodes[link.leader].name, now: now)
        case .time(let time): link.heard = time
        default: fail("a node answers something else")
        }
      }
    } catch { fail("\(error)") }
    drain()
  }

  // MARK: What must hold at the end

  private func checkEnd() throws {
    for (number, push) in pushed.enumerated() {
      switch push.answer {
      case nil where push.life == lives[push.edge]: throw ModelViolation("push \(number) is not answered")
      case .some(.badDeviceToken?): if push.isGood { throw ModelViolation("push \(number) is rejected") }
      case .some(nil): if !push.isGood { throw ModelViolation("push \(number) is accepted") }
      default: break
      }
    }
    for edge in nodes.indices {
      for zone in 0..<RelayNode.zones {
        try checkOrder(done, "done", edge, zone)
        try checkOrder(answered, "answered", edge, zone)
      }
    }
  }

  /// What one node has taken for a zone and was accepted keeps its order.
  private func checkOrder(_ numbers: [Int], _ what: String, _ edge: Int, _ zone: Int) throws {
    let mine = numbers.filter { number in
      pushed[number].edge == edge && pushed[number].zone == zone && pushed[number].answer == .some(nil)
    }
    guard mine == mine.sorted() else { throw ModelViolation("accepted pushes were \(what) as \(mine)") }
  }
}

/// A node of the simulation: what it keeps from one schedule to the next.
final class RelayNode {
  static let zones = 3
  static let map = ZoneMap(count: zones) ?? .usual
  private static let topics = ["com.example.app", "com.example.other"].compactMap { Topic($0) }

  let name: String
  var peer: NodePeer { NodePeer(name: name, address: SocketAddress(host: "127.0.0.1", port: 1)) }
  let broker: Broker
  /// Zones that it leads, and whom it takes for the leader of each.
  var led = [Bool](repeating: false, count: zones)
  var seen = [Int?](repeating: nil, count: zones)
  var desk: EdgePushes<Int>?
  private var phones: [TestDevice] = []
  private var tokens: [[UInt8]] = []
  private var looked: [Int]

  init(_ ordinal: UInt64) throws {
    name = "node-\(ordinal)"
    var options = BrokerOptions()
    options.history = 64
    let zones = ZoneShare(Self.map)
    for zone in 0..<Self.zones { zones.set(zone, isLed: true) }
    broker = Broker(derivation: StampedDerivation(Self.map), options: options, zones: zones)
    looked = [Int](repeating: 0, count: Self.zones)
    broker.history.countIds(
      from: ClusterMembership(birth: ClusterBirth(zones: Self.map), ordinal: ordinal).idBase)
    for zone in 0..<Self.zones { try connect(zone) }
  }

  private func connect(_ zone: Int) throws {
    let now = Timestamp(seconds: 1_800_000_000)
    let phone = TestDevice(connectedAt: now)
    let udid = (0...).lazy.compactMap { UDID("phone-\($0)") }.first { Self.map.zone(of: $0).number == zone }
    let connected = udid.flatMap {
      broker.devices.connect(
        $0, keyFingerprint: [1], environment: .sandbox, offeredBaseToken: nil, link: phone.link, now: now)
    }
    let topic = TopicHash(Self.topics[0])
    guard let session = connected?.session, let token = broker.apps.appToken(session, topic: topic, now: now)
    else {
      throw ModelViolation("a device can't connect")
    }
    broker.devices.setFilter(session, enabled: [topic], now: now)
    phones.append(phone)
    tokens.append(token.bytes)
  }

  /// Lends a push to the device of a zone; one that is not good is for another app.
  func withPush(_ number: Int, zone: Int, isGood: Bool, _ body: (PlainSubmission) -> Void) {
    let order = PushOrder(token: tokens[zone], topic: Self.topics[isGood ? 0 : 1], text: "\(number)")
    order.withSubmission(to: broker, body)
  }

  static func number(in payload: UnsafeRawBufferPointer) -> Int {
    Int(String(decoding: payload, as: UTF8.self)) ?? -1
  }

  /// The numbers of what devices have got since they were asked last; they acknowledge it.
  func takeReceived(_ now: Timestamp) -> [Int] {
    var numbers: [Int] = []
    for (zone, phone) in phones.enumerated() {
      while looked[zone] < phone.received.count {
        let received = phone.received[looked[zone]]
        looked[zone] += 1
        numbers.append(Int(received.text) ?? -1)
        broker.deliveries.acknowledge(phone.link, messageId: received.messageId, status: 0, now: now)
      }
    }
    return numbers
  }
}
