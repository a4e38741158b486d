import Basics
import Broker
import Platform
import PushModel
import TestSupport
import Zones

import Cluster

/// Several nodes in memory, as one push service. What peers do enters at a random node; zones move, logs are read late, and NATS
/// loses answers.
final class MemoryCluster: PushService {
  let map: ZoneMap
  let members: [ClusterMember]
  private let nats: MemoryNATS
  private var edges: [RelayEdge] = []
  private var choices: SeededChoices
  var now = Timestamp(seconds: 1_800_000_000)
  var phones: [UDID: TestDevice] = [:]
  /// How likely a zone moves when it may, from 0 to 1.
  var restlessness = 0.1
  private var pushes: [(edge: Int, id: UInt64)] = []
  /// Zones that were moved, as a count.
  private(set) var moves = 0
  var lostAnswers: Int { nats.lostCount }
  /// Pushes that another node has decided than the one that they came by, as a count.
  var relayed: UInt64 { edges.reduce(0) { $0 + $1.desk.decidedCount } }

  init(nodes: Int = 2, zones: Int = 8, seed: UInt64) throws {
    guard let map = ZoneMap(count: zones) else { throw ModelViolation("\(zones) zones can't be") }
    let nats = MemoryNATS(zones: zones, seed: seed)
    (self.map, self.nats, choices) = (map, nats, SeededChoices(seed: seed, name: "cluster"))
    members = (1...UInt64(nodes)).map { ClusterMember($0, map, nats) }
    for member in members { member.now = { [unowned self] in now } }
    edges = members.map { RelayEdge($0, self) }
    for member in members {
      member.broker.history.onStepElsewhere { [unowned self] id, state, time in
        let place = Int(ClusterMembership.ordinal(of: id)) - 1
        if members.indices.contains(place) {
          members[place].broker.history.noteElsewhere(id, state, at: time)
        }
      }
    }
    for zone in 0..<zones { try members[zone % nodes].claim(zone) }
    try readAll()
  }

  // MARK: Who has what

  func leader(ofZone zone: Int) throws -> ClusterMember {
    let leaders = members.filter { $0.leads(zone) }
    guard leaders.count == 1 else { throw ModelViolation("\(leaders.count) nodes own zone \(zone)") }
    return leaders[0]
  }

  func leader(of udid: UDID) throws -> Broker { try leader(ofZone: map.zone(of: udid).number).broker }

  func member(named name: String) -> ClusterMember? { members.first { $0.name == name } }

  private func anyNode() -> Int { Int(choices.whole(upTo: Int64(members.count - 1))) }

  // MARK: Turns

  /// The turn is in the logs; others read them sooner or later.
  func endTurn() throws {
    for member in members { try member.commit() }
    guard choices.unit() < 0.5 else { return }
    for zone in 0..<map.count where choices.unit() < 0.5 {
      try members[anyNode()].read(zone, atMost: 1 + Int(choices.whole(upTo: 3)))
    }
  }

  func readAll() throws { for member in members { try member.readAll() } }

  // MARK: Providers

  func submit(_ push: PushOrder) throws -> Rejection? {
    let (node, number) = (anyNode(), pushes.count)
    let edge = edges[node]
    pushes.append((node, try edge.submit(push, number, now)))
    try endTurn()
    for _ in 0..<10 where edge.verdicts[number] == nil {
      // The edge knows too little of where the zone is.
      try readAll()
      edge.desk.release(now: now)
      try endTurn()
    }
    guard let verdict = edge.verdicts[number] else { throw ModelViolation("push \(number) was not answered") }
    return verdict
  }

  func state(ofPush number: Int) -> NotificationState? {
    members[pushes[number].edge].broker.journal[pushes[number].id]?.state
  }

  /// What may be done twice without harm, at the leader of its zone, and read by all. False if there is no such channel.
  @discardableResult
  private func ask(_ action: LinkCommand.Action, in zone: Int) throws -> Bool {
    let leader = try leader(ofZone: zone)
    let outcome = ZoneLeader(leader.broker, isMine: { leader.leads(Int($0)) }).obey(
      LinkCommand(number: 0, zone: UInt16(zone), action), LeaderGate(timeout: .max), at: leader.instant)
    guard outcome != .notMine else { throw ModelViolation("the owner of zone \(zone) has refused") }
    try endTurn()
    try readAll()
    return outcome == .done
  }

  private func zone(of name: ChannelName) -> Int { map.zone(ofChannel: name.id).number }

  func createChannel(_ name: ChannelName, storesNewest: Bool) throws {
    try ask(
      .createChannel(topic: name.topic, .sandbox, id: name.id, storesNewest: storesNewest), in: zone(of: name)
    )
  }

  func deleteChannel(_ name: ChannelName) throws -> Bool {
    try ask(.deleteChannel(topic: name.topic, .sandbox, id: name.id), in: zone(of: name))
  }

  func broadcast(_ text: String, to name: ChannelName, expiration: UInt32) throws -> Bool {
    let edge = members[anyNode()].broker
    guard let key = name.key(in: edge) else { return false }
    let broadcast = edge.withBroadcast(text, of: key, expiration: expiration) {
      edge.broadcasts.begin($0, storageSeconds: 28_800, now: now)
    }
    let isDone = try ask(
      .broadcast(topic: name.topic, .sandbox, id: name.id, broadcast), in: zone(of: name))
    edge.history.endRelay(broadcast.id, isDone ? nil : .channelNotRegistered, .provider, now: now)
    return isDone
  }

  func readFeedback(_ topic: Topic) throws -> Set<DeviceToken> {
    try readAll()
    let edge = members[anyNode()].broker
    guard let id = edge.registry.topic(named: topic) else { return [] }
    let rows = edge.feedback.rows(topics: [id], environment: .sandbox)
    let tokens = rows.map { edge.registry[$0].token }
    edge.feedback.clear(rows)
    for (zone, tokens) in Dictionary(grouping: zip(rows, tokens), by: { edge.registry[$0.0].zone }) {
      try ask(.feedbackRead(tokens.map(\.1)), in: Int(zone))
    }
    return Set(tokens)
  }

  func sweep() throws {
    for member in members { member.broker.deliveries.dropExpired(now: now, budget: .max) }
    try endTurn()
  }

  // MARK: Zones move

  func stir(_ choices: inout SeededChoices) throws -> [UDID] {
    guard self.choices.unit() < restlessness else { return [] }
    return try move(Int(self.choices.whole(upTo: Int64(map.count - 1))))
  }

  private func move(_ zone: Int) throws -> [UDID] {
    let leader = try leader(ofZone: zone)
    let others = members.filter { $0 !== leader }
    let heir = others[Int(choices.whole(upTo: Int64(others.count - 1)))]
    moves += 1
    try leader.beginParting(zone)
    let ended = phones.filter { !$0.value.endReasons.isEmpty }.map(\.key)
    for udid in ended { phones[udid] = nil }
    try leader.hand(zone, over: heir)
    try heir.claim(zone)
    return ended
  }

  // MARK: What must be so

  /// What the leaders know of what is theirs; without the ids of notifications, which differ by where they came by.
  func ownedLines() -> Set<String> {
    members.reduce(into: []) { lines, member in
      lines.formUnion(
        member.broker.stateLines(ids: false, devices: { member.leads(map.zone(of: $0).number) }) {
          member.leads(map.zone(ofChannel: $0).number)
        })
    }
  }
}

/// Where pushes of a node's providers enter, and the links to the others, which are there at once.
final class RelayEdge {
  private let member: ClusterMember
  private unowned let cluster: MemoryCluster
  private(set) lazy var desk = EdgePushes<Int>(
    member.broker, cluster.map, limit: 1 << 20, timeout: .max,
    .init(
      seat: { [unowned self] in seat(Int($0)) }, send: { [unowned self] in send($0, $2, to: $3.name) },
      settled: { [unowned self] in verdicts[$0.ticket] = .some($1.rejection) }))
  /// At the other ends of the links.
  private var gates: [String: LeaderGate] = [:]
  /// By the pushes' numbers.
  private(set) var verdicts: [Int: Rejection?] = [:]

  init(_ member: ClusterMember, _ cluster: MemoryCluster) { (self.member, self.cluster) = (member, cluster) }

  private func seat(_ zone: Int) -> ZoneSeat {
    switch member.leader(of: zone) {
    case member.name: member.leads(zone) ? .here : .nowhere
    case let other?: .at(NodePeer(name: other, address: SocketAddress(host: "127.0.0.1", port: 1)))
    case nil: .nowhere
    }
  }

  /// Answers the push's id.
  func submit(_ push: PushOrder, _ number: Int, _ now: Timestamp) throws -> UInt64 {
    try push.withSubmission(to: member.broker) { submission in
      let place = desk.place(of: submission)
      guard place.isHere else {
        guard let id = desk.relay(submission, nil, at: place, for: number, now: now, since: member.instant)
        else {
          throw ModelViolation("there is no room")
        }
        return id
      }
      let result = member.broker.routing.submit(submission, detail: nil, now: now)
      verdicts[number] = .some(result.rejection)
      return result.id
    }
  }

  private func send(_ message: [UInt8], _ attempt: UInt32, to peer: String) {
    guard let leader = cluster.member(named: peer) else { return }
    let now = cluster.now
    var message = message
    LinkStamp(heard: LeaderGate.time(leader.instant), attempt: attempt).mark(&message)
    var gate = gates[peer] ?? LeaderGate(timeout: .max)
    defer { gates[peer] = gate }
    LinkFrame.withPush(in: message) { push in
      guard let push else { return }
      let outcome = ZoneLeader(leader.broker, isMine: { leader.leads(Int($0)) }).decide(
        push, &gate, now: now, at: leader.instant)
      desk.take(LinkVerdict(number: push.number, outcome), from: peer, now: now)
    }
  }
}
