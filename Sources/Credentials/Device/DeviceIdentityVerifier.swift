import Basics
import COpenSSL
import PushModel

/// Checks certificate, nonce and signature of a connect command (`Documentation/device-protocol.md#authentication`)
/// against our device CA and those in `trust/`. In lenient mode an unknown CA, a certificate out of its
/// time, a wrong clock and a repeated proof pass, with the reason kept; a wrong signature never does.
///
/// The issuer and the clock are looked at before the signature: what a stranger's key costs to use is nobody's to choose who is
/// refused anyway.
public final class DeviceIdentityVerifier {
  /// How far the nonce may be from the emulator's clock, in seconds. Apple's tolerance is unknown
  /// (`Documentation/device-protocol.md#authentication`); this is what signed timestamps elsewhere commonly get.
  public static let defaultToleranceSeconds: Int64 = 900
  /// What a signature begins with: RSA and SHA-1.
  static let signaturePrefix: [UInt8] = [1, 1]

  private let store: TrustStore
  private let isLenient: Bool
  private let toleranceSeconds: Int64
  private var proofs: ProofMemory

  /// Loads the CAs of a prepared folder. A tolerance of 0 switches the check of the clock off.
  public init(
    folder: CertsFolder, isLenient: Bool, toleranceSeconds: Int64 = defaultToleranceSeconds, now: Timestamp
  ) throws(CredentialsError) {
    store = TrustStore(
      anchors: [try folder.loadedDeviceCA(now: now).certificate], folder: folder.trustFolder)
    self.isLenient = isLenient
    self.toleranceSeconds = toleranceSeconds
    // From the clock's being as far ahead as is allowed until its being as far behind.
    let seconds = 2 * (toleranceSeconds > 0 ? toleranceSeconds : Self.defaultToleranceSeconds)
    proofs = ProofMemory(period: Timestamp(seconds: seconds).nanoseconds)
  }

  /// Who the device is, or why that is not believed. A proof is believed once.
  public func verify(
    certificateDER: [UInt8], nonce: [UInt8], signature: [UInt8], now: Timestamp, at instant: Instant
  ) -> Result<VerifiedDevice, DeviceRefusal> {
    Result { () throws(DeviceRefusal) in
      guard let madeAt = DeviceNonce.time(of: nonce) else {
        throw DeviceRefusal(
          .badNonce,
          "the nonce is not \(DeviceNonce.byteCount) bytes beginning with zero: \(nonce.count) came")
      }
      guard signature.starts(with: Self.signaturePrefix) else {
        throw DeviceRefusal(.badSignatureKind, "the signature does not begin with 01 01 for RSA with SHA-1")
      }
      let (certificate, key) = try usable(certificateDER)
      let known = clockProblem(madeAt, now) ?? issuerProblem(certificate, now)
      if let known, !isLenient { throw known }
      guard key.verifies(Array(signature.dropFirst(Self.signaturePrefix.count)), over: nonce, hash: "SHA1")
      else {
        throw DeviceRefusal(.badSignature, "the nonce is not signed with the key of the device's certificate")
      }
      return try admit(certificate, problem: known ?? repetitionProblem(certificate, nonce, instant))
    }
  }

  /// Who the device is that has proved itself with its certificate in the TLS handshake, or why that is not believed.
  /// Empty if it showed none.
  public func verify(
    handshakeCertificateDER der: [UInt8], now: Timestamp
  ) -> Result<VerifiedDevice, DeviceRefusal> {
    Result { () throws(DeviceRefusal) in
      guard !der.isEmpty else {
        throw DeviceRefusal(
          .badCertificate, "the device shows no certificate, neither in the handshake nor in connect")
      }
      let (certificate, _) = try usable(der)
      return try admit(certificate, problem: issuerProblem(certificate, now))
    }
  }

  /// What ends a handshake before its certificate's key is used: `X509_V_ERR_…`. Nil lets the device in; all else is judged when it
  /// connects, which can be answered and logged.
  public static func handshakeError(_ leafDER: [UInt8]) -> Int32? {
    guard let key = Certificate(der: leafDER)?.publicKey, StrangersKey.isUsable(key) else {
      return X509_V_ERR_CERT_REJECTED
    }
    return nil
  }

  private func usable(_ der: [UInt8]) throws(DeviceRefusal) -> (Certificate, PublicKey) {
    guard let certificate = Certificate(der: der), let key = certificate.publicKey,
      DeviceKeyPolicy.accepts(key)
    else {
      throw DeviceRefusal(
        .badCertificate, "the device's certificate can't be parsed or is not for \(DeviceKeyPolicy.sentence)")
    }
    return (certificate, key)
  }

  private func admit(
    _ certificate: Certificate, problem: DeviceRefusal?
  ) throws(DeviceRefusal) -> VerifiedDevice {
    let publicKey = certificate.publicKeyInfo
    let name = certificate.subjectAttribute(NID_commonName).flatMap { UDID($0) }
    let problem =
      problem ?? (name == nil ? DeviceRefusal(.badCertificate, "the subject's CN is not a UDID") : nil)
    if let problem, !isLenient { throw problem }
    guard let udid = name ?? UDID(Hex.encode(Digests.sha1(publicKey))) else {
      throw DeviceRefusal(.badCertificate, "the device has no name")
    }
    return VerifiedDevice(udid: udid, keyFingerprint: Digests.sha256(publicKey), leniency: problem)
  }

  private func clockProblem(_ madeAt: Timestamp, _ now: Timestamp) -> DeviceRefusal? {
    let tolerance = Timestamp(seconds: toleranceSeconds).nanoseconds
    guard tolerance > 0,
      now > madeAt.adding(nanoseconds: tolerance) || madeAt > now.adding(nanoseconds: tolerance)
    else { return nil }
    return DeviceRefusal(
      .badClock, "the nonce is of \(madeAt.rfc3339), more than \(toleranceSeconds) s from \(now.rfc3339)")
  }

  private func repetitionProblem(
    _ certificate: Certificate, _ nonce: [UInt8], _ instant: Instant
  ) -> DeviceRefusal? {
    let fingerprint = Digests.sha256(certificate.publicKeyInfo)
    guard !proofs.insert(nonce: nonce, keyFingerprint: fingerprint, at: instant) else { return nil }
    return DeviceRefusal(
      .repeated, "the same nonce and signature were accepted before: each proof is accepted once")
  }

  private func issuerProblem(_ certificate: Certificate, _ now: Timestamp) -> DeviceRefusal? {
    let error = store.verify(certificate, intermediates: [], at: now)
    let problem = CertificateProblem(
      verificationError: error, issuer: certificate.issuerCommonName, notBefore: certificate.notBefore,
      notAfter: certificate.notAfter)
    guard let problem else { return nil }
    switch problem.code {
    case .expired, .notYetValid: return DeviceRefusal(.expired, problem.sentence)
    default: return DeviceRefusal(.unknownCA, problem.sentence)
    }
  }
}

/// Which keys a device may have (`Documentation/device-protocol.md#authentication`).
enum DeviceKeyPolicy {
  /// RSA modulus, in bits: macOS uses 1024. Above the upper bound one verification costs too much.
  static let bits = 1024...4096

  static func accepts(_ key: PublicKey) -> Bool { key.isRSA(ofBits: bits) }

  /// What is wanted, for error sentences.
  static let sentence =
    "an RSA key of \(bits.lowerBound) to \(bits.upperBound) bits with an exponent of at most \(StrangersKey.exponentBits) bits"
}

/// A device that has proved who it is.
public struct VerifiedDevice: Equatable, Sendable {
  public var udid: UDID
  /// SHA-256 over the public key (SubjectPublicKeyInfo): another key is another identity.
  public var keyFingerprint: [UInt8]
  /// What strict mode has against it, where lenient mode let it pass.
  public var leniency: DeviceRefusal?
}

/// What a device signs to prove itself: a zero, the time in milliseconds, eight random bytes
/// (`Documentation/device-protocol.md#authentication`).
public enum DeviceNonce {
  /// Length, in bytes.
  public static let byteCount = 17
  /// First byte of a nonce on this protocol; HTTP uses 1.
  private static let leadingByte: UInt8 = 0

  /// A fresh nonce.
  public static func make(now: Timestamp) -> [UInt8] {
    var bytes = [leadingByte]
    bytes.append(bigEndian: UInt64(clamping: now.milliseconds))
    return bytes + .random(8)
  }

  /// When the device made it; nil unless it has the form of a nonce. Saturates at the end of time.
  public static func time(of bytes: [UInt8]) -> Timestamp? {
    guard bytes.count == byteCount, bytes[0] == leadingByte else { return nil }
    let milliseconds = bytes[1..<9].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let (nanoseconds, overflow) = Int64(clamping: milliseconds).multipliedReportingOverflow(by: 1_000_000)
    return Timestamp(nanoseconds: overflow ? .max : nanoseconds)
  }
}

/// Why a device's proof of identity is not accepted in strict mode.
public struct DeviceRefusal: Error, Equatable, Sendable, CustomStringConvertible {
  /// What is wrong; two refusals are equal when this is.
  public enum Code: Sendable {
    /// The nonce has another form.
    case badNonce
    /// The nonce is too old or from the future: the device should be told the server's time.
    case badClock
    /// The signature does not begin with the two bytes for SHA-1 and RSA.
    case badSignatureKind
    /// The signature was not made with the certificate's key.
    case badSignature
    /// The certificate can't be parsed, has an unfit key or names no device.
    case badCertificate
    case unknownCA
    case expired
    /// The very proof was accepted before.
    case repeated
  }

  public let code: Code
  /// A lower-case sentence without a full stop.
  public let sentence: String

  init(_ code: Code, _ sentence: String) {
    self.code = code
    self.sentence = sentence
  }

  public var description: String { sentence }

  public static func == (left: DeviceRefusal, right: DeviceRefusal) -> Bool { left.code == right.code }
}
