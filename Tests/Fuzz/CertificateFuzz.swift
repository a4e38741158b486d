import Basics
import CLibrary
import Credentials
import Platform

/// The parser of presented certificates, and the chain check behind it, in lenient mode, which looks the furthest.
struct CertificateFuzz: FuzzTarget {
  private let trust: ProviderTrust
  private let now = Timestamp(nanoseconds: SystemClock.wallNanoseconds())

  init() {
    guard let folder = getenv("APNS_EMULATOR_FUZZ_CERTS").map({ CertsFolder(path: String(cString: $0)) }),
      (try? folder.prepare(now: now)) != nil,
      let trust = try? ProviderTrust(folder: folder, isLenient: true, now: now)
    else { fatalError("APNS_EMULATOR_FUZZ_CERTS names no folder of certificates") }
    self.trust = trust
  }

  func take(_ input: UnsafeRawBufferPointer) {
    let verdict = trust.verifyChain(leafDER: Array(input), intermediatesDER: [], at: now)
    precondition(!verdict.isAccepted || verdict.certificate != nil)
    // What was read must be fit for logs and file names.
    _ = verdict.certificate.map { "\($0.commonName) \($0.issuer) \($0.topics)" }
    precondition(
      verdict == trust.verifyChain(leafDER: Array(input), intermediatesDER: [Array(input)], at: now))
  }
}
