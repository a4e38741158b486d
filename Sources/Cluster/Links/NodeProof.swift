import Credentials

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
