import Basics
import Credentials
import Platform

/// What a node recognises phones by and makes tokens of: all nodes have the same, or each refuses the phones of the others.
package struct NodeCredentials: Equatable, Sendable {
  /// Of our CA's certificate and the device CA's: SHA-256 of its DER.
  private let ca: [UInt8]
  private let deviceCA: [UInt8]
  /// `--token-seed`; nil where tokens follow from the cluster's secret.
  private let tokenSeed: String?

  package init(ca: [UInt8], deviceCA: [UInt8], tokenSeed: String?) {
    (self.ca, self.deviceCA, self.tokenSeed) = (ca, deviceCA, tokenSeed)
  }

  /// What others may hear of it. `secret` is the cluster's.
  func fingerprints(secret: [UInt8]) throws -> NodeFingerprints {
    NodeFingerprints(
      ca: NodeFingerprints.text(ca), deviceCA: NodeFingerprints.text(deviceCA),
      tokens: try tokens(secret))
  }

  /// Four bytes of a code: two seeds that differ show it, but for one pair in four billion, and who tries seeds finds more of them that
  /// fit than the right one.
  private static let tokenBytes = 4

  private func tokens(_ secret: [UInt8]) throws -> String {
    let code = try MessageAuthenticator(key: secret).code(
      over: Array("apns-emulator token seed\0".utf8) + Array((tokenSeed ?? Hex.encode(secret)).utf8))
    return Hex.encode(code.prefix(Self.tokenBytes))
  }
}

/// What nodes compare of their credentials.
struct NodeFingerprints: Equatable, Sendable {
  private static let byteCount = 8

  /// The beginning of what `openssl x509 -noout -fingerprint -sha256` prints.
  var ca: String
  var deviceCA: String
  /// Of what tokens are made of, by a code under the cluster's secret.
  var tokens: String

  static func text(_ digest: [UInt8]) -> String {
    digest.prefix(byteCount).map { Hex.encode([$0]).uppercased() }.joined(separator: ":")
  }

  /// Why a node with these can't be in a cluster with one that has `other`; nil if it can.
  func refusal(of node: String, beside other: NodeFingerprints, of otherNode: String) -> String? {
    let cure =
      "give all nodes the same, or this one a cluster of its own (--cluster)"
    for (file, own, others) in [
      ("ca.pem", ca, other.ca), ("device-ca.pem", deviceCA, other.deviceCA),
    ] where own != others {
      return "the certs folders differ: \(file) of \(otherNode) has the fingerprint \(others)…, that of "
        + "\(node) \(own)…, so each would refuse the other's phones: \(cure)"
    }
    guard tokens != other.tokens else { return nil }
    return
      "\(otherNode) and \(node) make different tokens for the same device: --token-seed differs, or one of them "
      + "has none: \(cure)"
  }
}
