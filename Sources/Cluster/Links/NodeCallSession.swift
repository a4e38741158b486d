import Basics

/// The caller's side of a greeting.
///
///     asked ─ the acceptor is who was meant ─→ told ─ OK ─→ done
///       └──────────────┴─ NO, or anything else ─→ refused
package struct NodeCallSession {
  /// What comes of what was heard.
  package enum Step: Equatable, Sendable {
    case wait
    case send([UInt8])
    /// The connection is what it was made for. What has come behind is for its new owner.
    case ready(rest: [UInt8])
    case refused(NodeGreeting.Refusal)
  }

  private enum State {
    case asked
    case told
    case over
  }

  private let hello: NodeHello
  private let acceptor: String
  private let proof: NodeProof?
  private let challenge: [UInt8]
  private var lines = NodeLines()
  private var state = State.asked

  /// `acceptor` is the name of the node that is meant; `challenge` is random, and of this connection alone.
  package init(_ hello: NodeHello, to acceptor: String, secret: [UInt8], challenge: [UInt8]) {
    (self.hello, self.acceptor, self.challenge) = (hello, acceptor, challenge)
    proof = NodeProof(secret: secret)
  }

  /// To be said first.
  package var opening: [UInt8] { NodeLine.opening(Hex.encode(challenge)) }

  package mutating func receive(_ bytes: Span<UInt8>) -> Step {
    lines.receive(bytes)
    do throws(NodeGreeting.Refusal) {
      guard let line = try lines.next() else { return .wait }
      switch state {
      case .asked:
        state = .told
        return .send(try answer(line))
      case .told:
        state = .over
        guard try NodeLine.understood(line) == "OK" else { throw NodeGreeting.Refusal("expected OK") }
        return .ready(rest: lines.rest)
      case .over: return .wait
      }
    } catch {
      state = .over
      return .refused(error)
    }
  }

  private func answer(_ line: [UInt8]) throws(NodeGreeting.Refusal) -> [UInt8] {
    let words = try NodeLine.words(line)
    guard let proof else { throw NodeGreeting.Refusal(NodeGreeting.unprepared) }
    guard words.count == 3, let code = Hex.decode(words[1]) else {
      throw NodeGreeting.Refusal("expected a challenge, a code and a name")
    }
    let challenges = NodeChallenges(caller: challenge, acceptor: try NodeLine.challenge(words[0]))
    guard proof.isRight(code, .acceptor, challenges, Array(words[2].utf8)) else {
      throw NodeGreeting.Refusal("the two nodes have different secrets: they are not of one cluster")
    }
    guard words[2] == acceptor else {
      throw NodeGreeting.Refusal("expected the node \(acceptor), got the node \(words[2])")
    }
    guard let document = hello.document else {
      throw NodeGreeting.Refusal("the connection's description is longer than a hello may be")
    }
    return Array(Hex.encode(proof.code(.caller, challenges, document)).utf8) + [0x20] + document + [0x0a]
  }
}
