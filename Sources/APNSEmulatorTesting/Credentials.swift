import Basics
import Credentials
import Foundation
import Platform
import PushModel

/// A push certificate for providers, as files of the emulator's folder and as bytes.
///
/// ```swift
/// let certificate = try emulator.issuePushCertificate(for: "com.example.app")
/// let client = try MyProvider(certificate: certificate.certificatePath, key: certificate.keyPath)
/// ```
public struct PushCertificate: Sendable {
  /// The certificate alone, in PEM.
  public let certificatePath: String
  /// Its private key, in PEM, unencrypted.
  public let keyPath: String
  /// Both in PKCS#12, with an empty password.
  public let pkcs12Path: String
  /// The content of `certificatePath`.
  public let certificatePEM: Data
  /// The content of `keyPath`.
  public let keyPEM: Data
  /// The content of `pkcs12Path`.
  public let pkcs12: Data
}

/// A token key (`.p8`) for providers, and what signs with it.
///
/// ```swift
/// let key = try emulator.issueTokenKey(team: "DEF123GHIJ")
/// let client = try MyProvider(key: key.path, keyID: key.keyID, teamID: key.teamID)
/// ```
public struct TokenKey: Sendable {
  /// Ten characters, made up unless given.
  public let keyID: String
  /// The team it is of.
  public let teamID: String
  /// `AuthKey_<KEY>.p8`.
  public let path: String
  /// The content of `path`: a P-256 key in PKCS#8 PEM.
  public let pem: Data

  /// A provider token (a JWT signed with ES256), good for an hour: what stands behind `authorization: bearer`.
  ///
  /// ```swift
  /// request.setValue("bearer \(try key.token())", forHTTPHeaderField: "authorization")
  /// ```
  ///
  /// - Parameter issued: The token's `iat`. The emulator judges it by its own clock, which is the wall clock's unless it was
  ///   moved; then pass `await emulator.now`.
  public func token(issued: Date = Date()) throws -> String {
    try ProviderTokenSigner(p8Path: path, keyId: keyID, teamId: teamID).token(at: Timestamp(issued))
  }
}

extension APNSEmulator {
  /// Issues a push certificate; the running emulator knows it at once. One already there for the first topic is replaced.
  ///
  /// ```swift
  /// let certificate = try emulator.issuePushCertificate(for: "com.example.app", "com.example.app.other")
  /// ```
  ///
  /// - Parameter environment: The only environment that it is for; nil for both.
  /// - Throws: `APNSEmulatorError` with `.invalid` for a topic that is none.
  public nonisolated func issuePushCertificate(
    for topics: String..., environment: Environment? = nil
  ) throws -> PushCertificate {
    let topics = try topics.map { try Topic(checking: $0) }
    guard !topics.isEmpty else {
      throw APNSEmulatorError(.invalid, "expected a topic for the push certificate, got none")
    }
    let files = try CertsFolder(path: certsPath).issuePushCertificate(
      topics: topics, environments: EnvironmentSet(environment), now: .now)
    return PushCertificate(
      certificatePath: files.certificate, keyPath: files.key, pkcs12Path: files.pkcs12,
      certificatePEM: try Data(file: files.certificate), keyPEM: try Data(file: files.key),
      pkcs12: try Data(file: files.pkcs12))
  }

  /// Makes a token key; the running emulator knows it at once.
  ///
  /// ```swift
  /// let key = try emulator.issueTokenKey(topics: "com.example.app")
  /// ```
  ///
  /// - Parameters:
  ///   - team: Of the key; any team will do, as long as it is the same for all keys of a connection.
  ///   - topics: What it may push to; none for everything.
  ///   - environment: The only environment that it is for; nil for both.
  public nonisolated func issueTokenKey(
    team: String = "EMULATOR01", keyID: String? = nil, topics: String..., environment: Environment? = nil
  ) throws -> TokenKey {
    let topics = try topics.map { try Topic(checking: $0) }
    let issued = try CertsFolder(path: certsPath).issueTokenKey(
      team: team, keyId: keyID, topics: topics, environments: EnvironmentSet(environment), now: .now)
    return TokenKey(keyID: issued.keyId, teamID: team, path: issued.key, pem: try Data(file: issued.key))
  }
}

extension EnvironmentSet {
  fileprivate init(_ only: Environment?) { self = only.map { EnvironmentSet($0) } ?? .both }
}

extension Timestamp {
  /// Wall-clock time, which TLS peers go by.
  fileprivate static var now: Timestamp { Timestamp(nanoseconds: SystemClock.wallNanoseconds()) }

  /// Saturates: a `Date` reaches farther than 64 bits of nanoseconds.
  package init(_ date: Date) {
    let nanoseconds = (date.timeIntervalSince1970 * 1e9).rounded()
    self.init(nanoseconds: Int64(exactly: nanoseconds) ?? (nanoseconds < 0 ? .min : .max))
  }
}

extension Data {
  fileprivate init(file path: String) throws { self = try Data(contentsOf: URL(filePath: path)) }
}
