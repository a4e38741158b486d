import Basics

/// The acceptor's side of a greeting. Who gets `met` says `welcome`, or a refusal of its own.
///
///     listening ─ a challenge ─→ challenged ─ a hello with the right code ─→ done
///         └────────────────────────┴─ NO, or anything else ─→ refused
package struct NodeAcceptSession {
  /// What comes of what was heard.
  package enum Step: Equatable, Sendable {
    case wait
    case send([UInt8])
    case met(NodeHello)
    case refused(NodeGreeting.Refusal)
  }

  private enum State {
    case listening
    case challenged(NodeChallenges, NodeProof)
    case over
  }

  /// What leads from the greeting to what the connection was made for.
  package static let welcome = NodeLine.ok

  private let name: String
  private let secret: [UInt8]
  private let challenge: [UInt8]
  private var lines = NodeLines()
  private var state = State.listening

  /// `name` is this node's; `challenge` is random, and of this connection alone.
  package init(name: String, secret: [UInt8], challenge: [UInt8]) {
    (self.name, self.secret, self.challenge) = (name, secret, challenge)
  }

  package mutating func receive(_ bytes: Span<UInt8>) -> Step {
    lines.receive(bytes)
    do throws(NodeGreeting.Refusal) {
      guard let line = try lines.next() else { return .wait }
      let step = try take(line)
      guard lines.rest.isEmpty else { throw NodeGreeting.Refusal("it sent bytes out of turn") }
      return step
    } catch {
      state = .over
      return .refused(error)
    }
  }

  private mutating func take(_ line: [UInt8]) throws(NodeGreeting.Refusal) -> Step {
    switch state {
    case .listening: return .send(try answer(line))
    case .challenged(let challenges, let proof):
      state = .over
      return .met(try hello(line, challenges, proof))
    case .over: return .wait
    }
  }

  private mutating func answer(_ line: [UInt8]) throws(NodeGreeting.Refusal) -> [UInt8] {
    let words = try NodeLine.words(line)
    guard words.count == 1 else { throw NodeGreeting.Refusal("expected a challenge and nothing else") }
    let challenges = NodeChallenges(caller: try NodeLine.challenge(words[0]), acceptor: challenge)
    guard let proof = NodeProof(secret: secret) else {
      throw NodeGreeting.Refusal(NodeGreeting.unprepared)
    }
    state = .challenged(challenges, proof)
    let code = proof.code(.acceptor, challenges, Array(name.utf8))
    return NodeLine.opening(Hex.encode(challenge), Hex.encode(code), name)
  }

  private func hello(
    _ line: [UInt8], _ challenges: NodeChallenges, _ proof: NodeProof
  ) throws(NodeGreeting.Refusal) -> NodeHello {
    _ = try NodeLine.understood(line)
    let digits = 2 * NodeProof.byteCount
    guard line.count > digits + 1, line[digits] == 0x20, let code = Hex.decode(digits: line[..<digits]) else {
      throw NodeGreeting.Refusal("expected a code and a hello")
    }
    let document = Array(line[(digits + 1)...])
    guard proof.isRight(code, .caller, challenges, document) else {
      throw NodeGreeting.Refusal("the two nodes have different secrets: they are not of one cluster")
    }
    guard let hello = NodeHello(document: document) else {
      throw NodeGreeting.Refusal("the hello can't be read")
    }
    return hello
  }
}
