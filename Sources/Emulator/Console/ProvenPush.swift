import Console
import Credentials
import PushModel
import Transport

/// A credential that a person has chosen in the browser, read and found fit to be shown: what a handshake would have carried, or
/// the header of a request. Holds no key.
enum ProvenPush: PushProof {
  /// In DER: the leaf, and those above it.
  case certificate([UInt8], chain: [[UInt8]])
  /// A provider token, signed for this push.
  case token(String)
}

/// Reads credentials beside the loop, as how long a file takes to be deciphered is the file's to say, and judges them as a
/// handshake would.
enum PushProver {
  /// Calls `then` on the loop; false if too many wait.
  static func prove(
    _ push: TestPush, _ credential: PushCredential, _ emulator: Emulator, _ background: BackgroundWork?,
    then: @escaping (Result<any PushProof, any Error>) -> Void
  ) -> Bool {
    let (certs, now) = (emulator.certs.path, emulator.clock.now())
    let work: @Sendable () -> Result<ProvenPush, any Error> = {
      Result { try read(credential, certs: certs, now: now) }
    }
    return background?.run(work) { [unowned emulator] read in
      then(read.flatMap { proof in Result { try judged(proof, push, emulator) } })
    } ?? false
  }

  private static func read(_ credential: PushCredential, certs: String, now: Timestamp) throws -> ProvenPush {
    if let signer = try ProviderTokenSigner(
      p8: credential.file, name: credential.name, keyId: credential.keyId, team: credential.team,
      folder: CertsFolder(path: certs))
    {
      return .token(try signer.token(at: now))
    }
    let identity = try PushIdentity(
      credential.file, named: credential.name, key: credential.key.map { ($0, "the key's file") },
      password: credential.password)
    let chain = identity.certificatesDER
    return .certificate(chain[0], chain: Array(chain.dropFirst()))
  }

  /// Throws what would have ended the connection before a push could have come.
  private static func judged(
    _ proof: ProvenPush, _ push: TestPush, _ emulator: Emulator
  ) throws -> any PushProof {
    switch proof {
    case .token:
      guard push.form == .http2 else {
        throw PushRefusal("the binary protocol wants a certificate, got a key")
      }
    case .certificate(let leaf, let chain):
      let now = emulator.clock.now()
      if emulator.trust.handshakeError(leaf, chain, at: now, emulator.logger) != nil {
        let problem = emulator.trust.recentVerdict(leafDER: leaf)?.problem
        throw PushRefusal(
          "the handshake would fail: \(problem?.sentence ?? "the certificate is not accepted")")
      }
      guard push.form == .legacy else { break }
      if emulator.identities.identify(leaf, push.environment, listener: "console") == nil {
        throw PushRefusal(
          "the gateway would close without a word: the certificate is not for \(push.environment.name)")
      }
    }
    return proof
  }
}

/// Why a credential is of no use here.
struct PushRefusal: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
