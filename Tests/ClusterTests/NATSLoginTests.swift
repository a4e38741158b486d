import Basics
import Credentials
import Foundation
import Platform
import TestSupport
import Testing
import Transport

import Cluster
import NATSWire

/// Certificates, made once for the whole run: the NATS server's, and those of somebody else.
private enum CAs {
  private static func folder() -> Result<String, any Error> {
    Result { try RunFolder.make(now: Timestamp(nanoseconds: SystemClock.wallNanoseconds())) }
  }
  private static let made = folder()
  private static let madeOther = folder()

  static func nats() throws -> CertsFolder { CertsFolder(path: try made.get()) }
  static func other() throws -> CertsFolder { CertsFolder(path: try madeOther.get()) }
}

@Suite(.enabled(if: NATSServer.isInstalled, "nats-server is not installed"))
struct NATSLoginTests {
  private func line(
    _ urls: String..., change: (inout ClusterOptions) throws -> Void = { _ in }
  ) throws -> Line {
    var options = ClusterOptions(natsServers: try urls.map { try #require(NATSAddress($0)) }, node: "node")
    try change(&options)
    return try Line(options.natsSettings(software: "1"))
  }

  private func refusal(_ line: Line) throws -> String {
    try line.wait(until: "a refusal") {
      if case .unreachable(let reason)? = line.state { reason } else { nil }
    }
  }

  // MARK: Passwords and keys

  @Test func bringsTheLoginOfItsURL() throws {
    let server = try NATSServer(["--user", "apns", "--pass", "p@ss:w/ord"])
    try line("nats://apns:p%40ss:w%2Ford@\(server.address)").waitUntilReady()
    let refused = try refusal(line("nats://apns:s3cr3t@\(server.address)"))
    #expect(refused == "nats://\(server.address): the NATS server refuses this node: Authorization Violation")
    let tokens = try NATSServer(["--auth", "s3cr3t"])
    try line("nats://s3cr3t@\(tokens.address)").waitUntilReady()
  }

  @Test func provesThatItHasAKey() throws {
    let user = try Signer(prefix: 20 << 3)
    let server = try NATSServer(
      jetStream: false, configuration: "authorization { users [ { nkey: \(user.publicKey) } ] }")
    let file = server.folder.appending(path: "user.nk")
    try Data(user.seed.utf8).write(to: file)
    try line("nats://\(server.address)") { $0.credentials = file.path }.waitUntilReady()
    // The file is read again: another key is another user.
    let changing = try line("nats://\(server.address)") { $0.credentials = file.path }
    try changing.waitUntilReady()
    try Data(Signer(prefix: 20 << 3).seed.utf8).write(to: file)
    server.kill()
    try server.start()
    _ = try changing.wait(until: "the refusal") {
      if case .unreachable(let reason)? = changing.state, reason.hasSuffix("Authorization Violation") {
        true
      } else {
        nil
      }
    }
  }

  /// A server whose users are named by JWTs that an account signs, which an operator signs.
  @Test func showsItsCredentialsFile() throws {
    let (operatorKey, account, user) = (
      try Signer(prefix: 14 << 3), try Signer(prefix: 0), try Signer(prefix: 20 << 3)
    )
    let trust = try operatorKey.jwt(of: operatorKey, #"{"type":"operator","version":2}"#)
    let accountJWT = try operatorKey.jwt(
      of: account,
      #"{"type":"account","version":2,"limits":{"subs":-1,"data":-1,"payload":-1,"imports":-1,"exports":-1,"#
        + #""wildcards":true,"conn":-1,"leaf":-1}}"#)
    let server = try NATSServer(
      jetStream: false,
      configuration:
        "operator: \(trust)\nresolver: MEMORY\nresolver_preload { \(account.publicKey): \(accountJWT) }")
    let userJWT = try account.jwt(
      of: user, #"{"type":"user","version":2,"subs":-1,"data":-1,"payload":-1}"#)
    let file = server.folder.appending(path: "user.creds")
    let text = """
      -----BEGIN NATS USER JWT-----
      \(userJWT)
      ------END NATS USER JWT------

      -----BEGIN USER NKEY SEED-----
      \(user.seed)
      ------END USER NKEY SEED------
      """
    try Data(text.utf8).write(to: file)
    try line("nats://\(server.address)") { $0.credentials = file.path }.waitUntilReady()
    let stranger = try refusal(line("nats://\(server.address)"))
    #expect(stranger.hasSuffix("the NATS server refuses this node: Authorization Violation"))
  }

  @Test func saysWhatIsWrongWithACredentialsFile() throws {
    let scratch = ScratchFolder()
    let path = scratch.file("user.creds")
    let absent = #expect(throws: SocketError.self) { try NATSCredentialsSource(path: path) }
    #expect(absent?.description == "can't read \(path): No such file or directory")
    try TextFile.write(path, Array("secret nonsense".utf8))
    let problem = #expect(throws: SocketError.self) { try NATSCredentialsSource(path: path) }
    #expect(problem?.description == "can't use \(path): it has no seed (a line that begins with SU)")
  }

  // MARK: TLS

  private func secureServer(_ flags: [String] = []) throws -> NATSServer {
    let certs = try CAs.nats()
    return try NATSServer(
      ["--tls", "--tlscert", certs.server.certificate, "--tlskey", certs.server.key] + flags)
  }

  @Test func speaksTLSWithANATSServerWhoseAuthorityItKnows() throws {
    let server = try secureServer(["--user", "apns", "--pass", "secret"])
    let ca = try CAs.nats().ca.certificate
    for scheme in ["nats", "tls"] {
      let line = try line("\(scheme)://apns:secret@\(server.address)") { $0.ca = ca }
      let log = FollowedLog(line)
      #expect(try log.open().get().messages == 0)
      #expect(try log.append("one", behind: 0) == .success(1))
      try line.answer(.delete(stream: "APNS_Z0")).isDone()
    }
  }

  @Test func saysWhomItDoesNotBelieve() throws {
    let server = try secureServer()
    let other = try CAs.other().ca.certificate
    let reason = try refusal(line("tls://\(server.address)") { $0.ca = other })
    #expect(reason.hasPrefix("tls://\(server.address): the certificate of the NATS server is not trusted: "))
    #expect(reason.hasSuffix("(--nats-ca names its CA)"))
    // Nor anybody whom only the system may know.
    #expect(try refusal(line("nats://\(server.address)")).contains("is not trusted"))
  }

  @Test func saysNothingInTheClearWhereTLSIsWanted() throws {
    let server = try NATSServer(jetStream: false)
    let sentence = "tls://\(server.address): the NATS server is unsuitable: it has no TLS, which is required"
    #expect(try refusal(line("tls://u:p@\(server.address)")) == sentence)
    let ca = try CAs.nats().ca.certificate
    #expect(
      try refusal(line("nats://u:p@\(server.address)") { $0.ca = ca }).hasSuffix(
        "it has no TLS, which is required")
    )
  }

  @Test func saysThatACAIsNone() throws {
    var options = ClusterOptions(natsServers: [], node: "node")
    options.ca = "/nowhere/ca.pem"
    #expect(throws: TLSError.self) { try options.natsSettings(software: "1") }
  }

  // MARK: Several servers

  @Test func goesToTheNextWhenOneDies() throws {
    let (first, second) = (try NATSServer(["-n", "first"]), try NATSServer(["-n", "second"]))
    let line = try line("nats://\(first.address)", "nats://localhost:\(second.port)")
    func wait(for name: String) throws {
      _ = try line.wait(until: name) {
        if case .ready(let info)? = line.state, info.serverName == name { true } else { nil }
      }
    }
    try wait(for: "first")
    first.kill()
    try wait(for: "second")
    second.kill()
    try first.start()
    try wait(for: "first")
  }

  @Test func saysThatANameIsUnknown() throws {
    let line = try line("nats://no-such-host.invalid")
    #expect(try refusal(line).hasPrefix("nats://no-such-host.invalid:4222: can't resolve"))
  }
}

/// A key of NATS that signs, as `nsc` makes them.
private struct Signer {
  let seed: String
  let publicKey: String
  private let key: PrivateKey

  /// The prefix says whose: a user's, an account's, an operator's.
  init(prefix: UInt8) throws {
    let bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max) }
    seed = NATSKeyText.text([18 << 3 | prefix >> 5, prefix << 3] + bytes)
    key = try #require(PrivateKey(ed25519Seed: bytes))
    publicKey = NATSKeyText.text([prefix] + (try #require(key.ed25519PublicKey)))
  }

  /// What this one says of another.
  func jwt(of subject: Signer, _ claims: String) throws -> String {
    let head = Base64.encodeForURL(Array(#"{"typ":"JWT","alg":"ed25519-nkey"}"#.utf8))
    let body =
      #"{"jti":"x","iat":1,"iss":"\#(publicKey)","name":"test","sub":"\#(subject.publicKey)","nats":\#(claims)}"#
    let signed = head + "." + Base64.encodeForURL(Array(body.utf8))
    return signed + "." + Base64.encodeForURL(try key.signature(over: Array(signed.utf8), hash: nil))
  }
}
