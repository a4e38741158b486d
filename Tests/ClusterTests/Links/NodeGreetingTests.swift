import Basics
import Platform
import Testing

import Cluster

/// Two sides of a greeting in memory.
private struct Meeting {
  var caller: NodeCallSession
  var acceptor: NodeAcceptSession
  /// What each has said, line by line.
  var called: [[UInt8]] = []
  var accepted: [[UInt8]] = []
  var met: NodeHello?
  var isReady = false
  var callerRefused: NodeGreeting.Refusal?
  var acceptorRefused: NodeGreeting.Refusal?

  init(
    _ kind: NodeHello.Kind = .link, secrets: (caller: String, acceptor: String) = ("secret", "secret"),
    meant: String = "node-2", names: (caller: String, acceptor: String) = ("node-1", "node-2"),
    challenges: (caller: UInt8, acceptor: UInt8) = (1, 2)
  ) {
    caller = NodeCallSession(
      NodeHello(caller: names.caller, kind: kind), to: meant, secret: Array(secrets.caller.utf8),
      challenge: Self.challenge(challenges.caller))
    acceptor = NodeAcceptSession(
      name: names.acceptor, secret: Array(secrets.acceptor.utf8),
      challenge: Self.challenge(challenges.acceptor))
  }

  private static func challenge(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 32) }

  /// Lets them talk until nobody has more to say; `change` may change a line on its way.
  mutating func talk(_ change: (_ line: [UInt8], _ number: Int) -> [UInt8] = { line, _ in line }) {
    var number = 0
    func carried(_ line: [UInt8]) -> [UInt8] {
      defer { number += 1 }
      return change(line, number)
    }
    var toAcceptor = carried(caller.opening)
    called.append(toAcceptor)
    while !toAcceptor.isEmpty {
      var toCaller: [UInt8] = []
      switch hear(&acceptor, toAcceptor) {
      case .wait: break
      case .send(let bytes): toCaller = bytes
      case .met(let hello): (met, toCaller) = (hello, NodeAcceptSession.welcome)
      case .refused(let refusal): (acceptorRefused, toCaller) = (refusal, refusal.farewell)
      }
      toAcceptor = []
      guard !toCaller.isEmpty else { return }
      let line = carried(toCaller)
      accepted.append(line)
      switch caller.receive(line.span) {
      case .wait: break
      case .send(let bytes): toAcceptor = carried(bytes)
      case .ready: isReady = true
      case .refused(let refusal): (callerRefused, toAcceptor) = (refusal, refusal.farewell)
      }
      if !toAcceptor.isEmpty { called.append(toAcceptor) }
    }
  }

  private func hear(_ acceptor: inout NodeAcceptSession, _ bytes: [UInt8]) -> NodeAcceptSession.Step {
    acceptor.receive(bytes.span)
  }
}

@Suite("How two nodes get to know each other")
struct NodeGreetingTests {
  private static let device = EdgeDevice(
    requestedName: "courier.push.apple.com", alpn: "apns-pack-v1",
    remoteAddress: SocketAddress(host: "192.0.2.7", port: 49152), certificate: [0x30, 0, 255])

  @Test(
    "who knows the secret learns what the connection is for",
    arguments: [
      NodeHello.Kind.link, .console, .device(device),
      .device(
        EdgeDevice(
          requestedName: nil, alpn: nil, remoteAddress: SocketAddress(host: "::1", port: 1), certificate: nil)
      ),
    ])
  func met(kind: NodeHello.Kind) {
    var meeting = Meeting(kind)
    meeting.talk()
    #expect(meeting.met == NodeHello(caller: "node-1", kind: kind))
    #expect(meeting.isReady)
    #expect(meeting.callerRefused == nil && meeting.acceptorRefused == nil)
  }

  @Test("different secrets part them, each with a sentence, and nothing of the device is said")
  func secrets() {
    var meeting = Meeting(.device(Self.device), secrets: ("one", "other"))
    meeting.talk()
    #expect(meeting.met == nil && !meeting.isReady)
    #expect(meeting.callerRefused?.sentence.contains("different secrets") == true)
    #expect(
      meeting.acceptorRefused?.sentence.hasPrefix("it says: the two nodes have different secrets") == true)
    #expect(!meeting.called.contains { String(decoding: $0, as: UTF8.self).contains("192.0.2.7") })
  }

  @Test("a caller that only pretends to know the secret is refused")
  func pretender() {
    var meeting = Meeting()
    meeting.talk { line, number in
      guard number == 2 else { return line }
      return Array(repeating: UInt8(ascii: "0"), count: 64) + line[64...]
    }
    #expect(meeting.met == nil)
    #expect(meeting.acceptorRefused?.sentence.contains("different secrets") == true)
    #expect(meeting.callerRefused?.sentence.hasPrefix("it says: ") == true)
  }

  @Test("every byte of the caller's words is proven")
  func tampered() {
    var meeting = Meeting(.device(Self.device))
    meeting.talk { line, number in
      number == 2 ? Array(String(decoding: line, as: UTF8.self).replacing("49152", with: "49153").utf8) : line
    }
    #expect(meeting.met == nil && meeting.acceptorRefused != nil)
  }

  @Test("a hello that was overheard is of no use on another connection")
  func replayed() {
    var overheard = Meeting()
    overheard.talk()
    var second = Meeting(challenges: (1, 3))
    second.talk { line, number in number == 2 ? overheard.called[1] : line }
    #expect(second.met == nil && second.acceptorRefused != nil)
  }

  @Test("who asks for a node hears no hello from another that has its address by now")
  func anotherNode() {
    var meeting = Meeting(meant: "node-3")
    meeting.talk()
    #expect(meeting.callerRefused?.sentence == "expected the node node-3, got the node node-2")
    #expect(meeting.met == nil && meeting.acceptorRefused != nil)
  }

  @Test("an acceptor's code is not one that it would take from a caller")
  func reflected() {
    var meeting = Meeting(challenges: (5, 5))
    var code: [UInt8] = []
    meeting.talk { line, number in
      if number == 1 { code = Array(String(decoding: line, as: UTF8.self).split(separator: " ")[3].utf8) }
      return number == 2 ? code + line[64...] : line
    }
    #expect(code.count == 64)
    #expect(meeting.met == nil && meeting.acceptorRefused != nil)
  }

  @Test("versions part them, each with a sentence", arguments: [0, 1])
  func versions(line: Int) {
    var meeting = Meeting()
    meeting.talk { bytes, number in
      guard number == line else { return bytes }
      return Array(String(decoding: bytes, as: UTF8.self).replacing("NODE 1 ", with: "NODE 2 ").utf8)
    }
    let refusals = [meeting.callerRefused, meeting.acceptorRefused].compactMap { $0?.sentence }
    #expect(refusals.count == 2 && refusals.allSatisfy { $0.contains("different versions") }, "\(refusals)")
  }

  @Test("without a secret nobody is met", arguments: [("", "secret"), ("secret", ""), ("", "")])
  func unprepared(secrets: (String, String)) {
    var meeting = Meeting(secrets: secrets)
    meeting.talk()
    #expect(meeting.met == nil && !meeting.isReady)
    #expect(meeting.callerRefused != nil && meeting.acceptorRefused != nil)
  }

  @Test(
    "what is no node's hello is refused",
    arguments: ["GET / HTTP/1.1\n", "\n", "APNS-NODE 1 zz\n", "APNS-NODE\n"])
  func strangers(line: String) {
    var acceptor = Meeting().acceptor
    guard case .refused = acceptor.receive(Array(line.utf8).span) else {
      Issue.record("it was not refused")
      return
    }
  }

  @Test("lines are bounded, and may come byte by byte")
  func bounded() {
    var meeting = Meeting()
    for byte in meeting.caller.opening.dropLast() {
      let answer = meeting.acceptor.receive([byte].span)
      #expect(answer == .wait)
    }
    guard case .send = meeting.acceptor.receive([UInt8(0x0a)].span) else {
      Issue.record("it does not answer")
      return
    }
    var other = Meeting().acceptor
    let long = [UInt8](repeating: 0x41, count: NodeGreeting.lineLimit)
    let answer = other.receive(long.span)
    #expect(answer == .wait)
    guard case .refused = other.receive([UInt8(0x41)].span) else {
      Issue.record("there is no bound")
      return
    }
  }

  @Test("a certificate of the greatest length fits, and more is not sent")
  func certificate() {
    var device = Self.device
    device.certificate = [UInt8](repeating: 7, count: EdgeDevice.certificateLimit)
    var meeting = Meeting(.device(device))
    meeting.talk()
    #expect(meeting.met?.kind == .device(device))
    device.certificate = [UInt8](repeating: 7, count: 2 * EdgeDevice.certificateLimit)
    var other = Meeting(.device(device))
    other.talk()
    #expect(other.met == nil && other.callerRefused != nil && other.acceptorRefused != nil)
  }

  @Test("what comes behind OK is left for the connection's new owner")
  func behind() {
    var meeting = Meeting()
    meeting.talk { line, number in number == 3 ? [] : line }
    let step = meeting.caller.receive(Array("OK\nmore".utf8).span)
    #expect(step == .ready(rest: Array("more".utf8)))
  }

  @Test("a sentence of another node can't put anything else into our log")
  func sentences() {
    var caller = Meeting().caller
    let line = Array("NO a\u{1b}[31mb\rc \(String(repeating: "x", count: 2000))\n".utf8)
    guard case .refused(let refusal) = caller.receive(line.span) else {
      Issue.record("it was not refused")
      return
    }
    #expect(refusal.sentence.hasPrefix("it says: a[31mbc x") && refusal.sentence.utf8.count < 500)
    #expect(refusal.farewell.isEmpty)
  }

  @Test("whatever comes in whatever pieces, nothing traps, and nobody is met who has not said a right hello")
  func anything() {
    var choices = SeededChoices(seed: 7)
    var whole = Meeting(.device(Self.device))
    whole.talk()
    var metCount = 0
    for _ in 0..<3000 {
      var fresh = Meeting(.device(Self.device))
      var met: NodeHello?
      var wasChanged = false
      for line in whole.called {
        let said = Self.spoilt(line, &choices)
        wasChanged = wasChanged || Self.lowercased(said) != Self.lowercased(line)
        for piece in Self.pieces(said, &choices) {
          if case .met(let hello) = fresh.acceptor.receive(piece.span) { met = hello }
        }
      }
      for line in whole.accepted {
        for piece in Self.pieces(Self.spoilt(line, &choices), &choices) {
          _ = fresh.caller.receive(piece.span)
        }
      }
      metCount += met == nil ? 0 : 1
      #expect(met == nil || !wasChanged)
    }
    #expect(metCount > 0, "some were not changed")
  }

  /// Digits may be spelled in either case.
  private static func lowercased(_ bytes: [UInt8]) -> String {
    String(decoding: bytes, as: UTF8.self).lowercased()
  }

  /// With some of its bytes changed, or none.
  private static func spoilt(_ line: [UInt8], _ choices: inout SeededChoices) -> [UInt8] {
    var line = line
    for _ in 0..<Int.random(in: 0...3, using: &choices) {
      line[Int.random(in: 0..<line.count, using: &choices)] ^= UInt8.random(in: 1...255, using: &choices)
    }
    return line
  }

  private static func pieces(_ bytes: [UInt8], _ choices: inout SeededChoices) -> [[UInt8]] {
    var (pieces, rest) = ([[UInt8]](), bytes[...])
    while !rest.isEmpty {
      let count = min(rest.count, Int.random(in: 1...200, using: &choices))
      pieces.append(Array(rest.prefix(count)))
      rest = rest.dropFirst(count)
    }
    return pieces
  }
}
