import Basics
import Foundation
import TestSupport
import Testing

import Credentials

/// Provider tokens of `Documentation/provider-api.md#example-token`, and others made to be wrong in one way.
enum TestToken {
  static let keyId = "ABC123DEFG"
  static let team = "DEF123GHIJ"

  static let raw =
    "eyJhbGciOiJFUzI1NiIsImtpZCI6IkFCQzEyM0RFRkcifQ.eyJpc3MiOiJERUYxMjNHSElKIiwiaWF0IjoxNzAwMDAwMDAwfQ"
    + ".epN2fVcyhdI23GejIEduh2cuGNgW0jCkUxkHzPTVydtdP2xFaOgr6FbqUREmcM0E5Jfx9NhckM9D6L_cEH3xCg"
  static let der =
    "eyJhbGciOiJFUzI1NiIsImtpZCI6IkFCQzEyM0RFRkcifQ.eyJpc3MiOiJERUYxMjNHSElKIiwiaWF0IjoxNzAwMDAwMDAwfQ"
    + ".MEQCIHqTdn1XMoXSNtxnoyBHbodnLhjYFtIwpFMZB8z01cnbAiBdP2xFaOgr6FbqUREmcM0E5Jfx9NhckM9D6L_cEH3xCg"

  /// The key of `Documentation/provider-api.md#example-token` as PKCS#8 PEM: scalar and public point are the
  /// documentation's.
  static func p8() throws -> [UInt8] {
    let scalar = (1...32).map { UInt8($0) }
    let point = try bytes(
      """
      04515c3d6eb9e396b904d3feca7f54fdcd0cc1e997bf375dca515ad0a6c3b4035f
      4536be3a50f318fbf9a5475902a221502bef0d57e08c53b2cc0a56f17d9f9354
      """)
    let publicKey = DER.value(0xa1, DER.value(0x03, [0] + point))
    let key = DER.value(0x30, [2, 1, 1] + DER.value(0x04, scalar) + publicKey)
    // id-ecPublicKey, prime256v1.
    let algorithm = DER.value(0x30, try bytes("0607 2a8648ce3d0201 0608 2a8648ce3d030107"))
    let info = DER.value(0x30, [2, 1, 0] + algorithm + DER.value(0x04, key))
    let text = Data(info).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
    let name = "PRIVATE" + " KEY"
    return Array("-----BEGIN \(name)-----\n\(text)\n-----END \(name)-----\n".utf8)
  }

  /// A certs folder whose only key is that of `Documentation/provider-api.md#example-token`.
  static func folder(in home: ScratchFolder, record: String? = nil) throws -> CertsFolder {
    let folder = CertsFolder(path: home.path)
    try FileManager.default.createDirectory(atPath: folder.keysFolder, withIntermediateDirectories: true)
    try install(in: folder, record: record)
    return folder
  }

  static func install(in folder: CertsFolder, record: String? = nil) throws {
    let record =
      record
      ?? #"{"keyId":"ABC123DEFG","teamId":"DEF123GHIJ","topics":[],"environments":["sandbox","production"]}"#
    try write(p8(), to: folder.keysFolder + "/AuthKey_\(keyId).p8")
    try write(Array(record.utf8), to: folder.keysFolder + "/\(keyId).json")
  }

  /// A token with any header and claims, signed with the key of `Documentation/provider-api.md#example-token` unless
  /// told.
  static func signed(
    header: String = #"{"alg":"ES256","kid":"ABC123DEFG"}"#,
    claims: String = #"{"iss":"DEF123GHIJ","iat":1700000000}"#, key: PrivateKey? = nil,
    hash: String = "SHA256", scalarByteCount: Int = 32
  ) throws -> String {
    let key = try key ?? #require(PrivateKey(pem: p8()))
    let message = Base64.encodeForURL(Array(header.utf8)) + "." + Base64.encodeForURL(Array(claims.utf8))
    let der = try key.signature(over: Array(message.utf8), hash: hash)
    let raw = try #require(ECDSASignature.raw(from: der))
    let padding = [UInt8](repeating: 0, count: scalarByteCount - 32)
    return message + "." + Base64.encodeForURL(padding + raw.prefix(32) + padding + raw.suffix(32))
  }
}
