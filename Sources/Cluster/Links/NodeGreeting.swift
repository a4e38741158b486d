import Basics
import Credentials

/// How two nodes get to know each other: what is said on a connection before it is what it was made for. No TLS, so this says
/// who is there and protects nothing of what follows: nodes' links belong in a private network.
///
/// ```
/// caller    APNS-NODE 1 CHALLENGE                  64 hexadecimal digits
/// acceptor  APNS-NODE 1 CHALLENGE CODE NAME        it knows the secret, and is the node that was meant
/// caller    CODE {"kind": …}                       so does the caller, who says nothing of devices before
/// acceptor  OK                                     what follows is what the connection was made for
/// either    NO SENTENCE                            in place of any line of its own, and then its end
/// ```
///
/// The codes are over both challenges, which are new each time, so that nothing of one connection is of use on another.
package enum NodeGreeting {
  /// What each side chooses at random, in bytes.
  package static let challengeByteCount = 32
  /// Most bytes that are read of a line: a code, a hello, and what parts them.
  package static let lineLimit = 2 * NodeProof.byteCount + 1 + NodeHello.byteLimit
  /// Most bytes of a sentence that is told.
  static let sentenceLimit = 400

  /// Why two nodes don't talk.
  package struct Refusal: Error, Equatable, Sendable {
    package var sentence: String
    /// To be sent before the end; empty if the other knows.
    package var farewell: [UInt8]

    /// As this side sees it.
    package init(_ sentence: String) {
      self.sentence = sentence
      farewell = NodeLine.no(sentence)
    }

    /// As the other side has said.
    package init(told sentence: String) { (self.sentence, farewell) = ("it says: \(sentence)", []) }
  }

  static let unprepared = "this node has not read the cluster's secret yet"
}

/// The words of a line.
enum NodeLine {
  static let name = "APNS-NODE"

  static func opening(_ words: String...) -> [UInt8] {
    Array("\(name) \(NodeHello.version) \(words.joined(separator: " "))\n".utf8)
  }

  static func no(_ sentence: String) -> [UInt8] { Array("NO \(sentence)\n".utf8) }

  static let ok = Array("OK\n".utf8)

  /// What a line that begins with name and version says behind them; throws what is wrong with it.
  static func words(_ line: [UInt8]) throws(NodeGreeting.Refusal) -> [Substring] {
    let text = try understood(line)
    let words = text.split(separator: " ", maxSplits: 4, omittingEmptySubsequences: false)
    guard words.count >= 3, words[0] == name else {
      throw NodeGreeting.Refusal(
        "this is the port for other nodes: expected a node's hello, got something else")
    }
    guard words[1] == "\(NodeHello.version)" else {
      throw NodeGreeting.Refusal(
        "nodes of different versions can't be linked: expected version \(NodeHello.version), got \(words[1].prefix(8))"
      )
    }
    return Array(words[2...])
  }

  /// The line as text, unless it says no.
  static func understood(_ line: [UInt8]) throws(NodeGreeting.Refusal) -> String {
    let text = String(decoding: line, as: UTF8.self)
    guard text.hasPrefix("NO ") else { return text }
    let said = text.dropFirst(3).unicodeScalars.prefix(NodeGreeting.sentenceLimit)
    throw NodeGreeting.Refusal(told: String(String.UnicodeScalarView(said.filter { $0.value >= 0x20 })))
  }

  static func challenge(_ word: Substring) throws(NodeGreeting.Refusal) -> [UInt8] {
    guard let bytes = Hex.decode(word), bytes.count == NodeGreeting.challengeByteCount else {
      throw NodeGreeting.Refusal("a challenge has \(NodeGreeting.challengeByteCount) bytes")
    }
    return bytes
  }
}

/// Cuts what comes into lines, of which none is longer than a hello.
struct NodeLines {
  private var bytes: [UInt8] = []
  /// How much of it is known to have no end of a line, so that bytes that come one by one are looked at once.
  private var searched = 0

  /// What has come behind the last line.
  var rest: [UInt8] { bytes }

  mutating func receive(_ more: Span<UInt8>) { bytes.append(more) }

  /// The next line without its end; nil if it is not whole. Throws when it is too long.
  mutating func next() throws(NodeGreeting.Refusal) -> [UInt8]? {
    guard let end = bytes[searched...].firstIndex(of: 0x0a) else {
      searched = bytes.count
      try check(bytes.count)
      return nil
    }
    try check(end)
    defer {
      bytes.removeSubrange(...end)
      searched = 0
    }
    return Array(bytes[..<end])
  }

  private func check(_ count: Int) throws(NodeGreeting.Refusal) {
    guard count <= NodeGreeting.lineLimit else {
      throw NodeGreeting.Refusal("a line is longer than \(NodeGreeting.lineLimit) bytes")
    }
  }
}

/// Proves that one knows the cluster's secret, by codes (HMAC-SHA256) over what both sides have chosen at random.
///
/// Each side's codes begin with a word of their own, so that none can be had from the other side by asking.
struct NodeProof {
  /// Of a code, in bytes.
  static let byteCount = MessageAuthenticator.byteCount

  /// Who proves it.
  enum Side: String { case caller, acceptor }

  private let authenticator: MessageAuthenticator

  /// nil without a secret.
  init?(secret: [UInt8]) {
    guard !secret.isEmpty, let authenticator = try? MessageAuthenticator(key: secret) else { return nil }
    self.authenticator = authenticator
  }

  func code(_ side: Side, _ challenges: NodeChallenges, _ statement: [UInt8]) -> [UInt8] {
    authenticator.code(over: Self.message(side, challenges, statement))
  }

  func isRight(_ code: [UInt8], _ side: Side, _ challenges: NodeChallenges, _ statement: [UInt8]) -> Bool {
    authenticator.verifies(code, over: Self.message(side, challenges, statement))
  }

  /// All but the last part are of fixed length, or end with a zero.
  private static func message(_ side: Side, _ challenges: NodeChallenges, _ statement: [UInt8]) -> [UInt8] {
    Array("apns-emulator node \(NodeHello.version) \(side.rawValue)\0".utf8) + challenges.caller
      + challenges.acceptor + statement
  }
}

/// What both sides have chosen.
struct NodeChallenges {
  var caller: [UInt8]
  var acceptor: [UInt8]
}
