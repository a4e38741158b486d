import COpenSSL
import Platform

/// A push certificate and its key as developers keep them (`Documentation/credentials.md#files-of-a-certificate`): together in a
/// `.p12` or a `.pem`, or in two files; the certificate also as the `.cer` that Apple's portal gives. What is in a file is told by
/// its bytes, not by its name.
public struct PushIdentity {
  /// The one that the key belongs to, then those above it.
  let certificates: [Certificate]
  let key: PrivateKey

  /// Reads them. `key` names the key's file where it is not in the first; `password` is that of either.
  public init(file: String, key keyFile: String? = nil, password: String = "") throws(CredentialsError) {
    var key: (bytes: [UInt8], name: String)?
    if let keyFile { key = (try FileSystem.readNamed(keyFile), keyFile) }
    try self.init(try FileSystem.readNamed(file), named: file, key: key, password: password)
  }

  /// Takes what was in those files; the names are for errors.
  public init(
    _ bytes: [UInt8], named file: String, key keyFile: (bytes: [UInt8], name: String)? = nil,
    password: String = ""
  ) throws(CredentialsError) {
    var (found, key) = try Self.contents(bytes, file, password)
    if let keyFile { key = try Self.key(in: keyFile.bytes, keyFile.name, password) }
    guard !found.isEmpty else {
      throw CredentialsError(
        .malformed, "\(file): expected a certificate in PEM, PKCS#12 or DER, got something else")
    }
    guard let key else {
      throw CredentialsError(
        .mismatched,
        "\(file) has no key that can be read: name its file, or the password if it is encrypted")
    }
    guard let own = found.firstIndex(where: { $0.belongs(to: key) }) else {
      throw CredentialsError(
        .mismatched, "\(keyFile?.name ?? file) is not the key of a certificate in \(file)")
    }
    found.swapAt(0, own)
    (certificates, self.key) = (found, key)
  }

  private static func isPEM(_ bytes: [UInt8]) -> Bool { bytes.contains("-----BEGIN".utf8) }

  /// Those of a file in PEM or DER.
  static func certificates(_ bytes: [UInt8]) -> [Certificate] {
    isPEM(bytes) ? Certificate.all(pem: bytes) : [Certificate(der: bytes)].compactMap { $0 }
  }

  /// What is in a file, encrypted or not.
  private static func contents(
    _ bytes: [UInt8], _ file: String, _ password: String
  ) throws(CredentialsError) -> (certificates: [Certificate], key: PrivateKey?) {
    if let bundle = try PKCS12.decode(bytes, password: password, file: file) {
      return (bundle.certificates, bundle.key)
    }
    try DerivationBudget.check(pem: bytes, file: file)
    return (certificates(bytes), isPEM(bytes) ? PrivateKey(pem: bytes, password: password) : nil)
  }

  private static func key(
    in bytes: [UInt8], _ file: String, _ password: String
  ) throws(CredentialsError) -> PrivateKey {
    guard let key = try contents(bytes, file, password).key else {
      throw CredentialsError(
        .malformed, "\(file): expected a key in PEM or PKCS#12, with its password if it is encrypted")
    }
    return key
  }

  /// The certificates in DER, the one that the key belongs to first.
  public var certificatesDER: [[UInt8]] { certificates.map(\.der) }

  // MARK: Writing

  /// The certificates in PEM.
  public func certificatePEM() throws(CredentialsError) -> [UInt8] {
    var text: [UInt8] = []
    for certificate in certificates { text += try certificate.pem() }
    return text
  }

  /// The key in PEM, without a password. Secret.
  public func keyPEM() throws(CredentialsError) -> [UInt8] { try key.pem() }

  /// Both in a PKCS#12 file. Secret.
  public func pkcs12(password: String) throws(CredentialsError) -> [UInt8] {
    try PKCS12.encode(
      certificates[0], above: Array(certificates.dropFirst()), key: key,
      name: certificates[0].subjectAttribute(NID_commonName) ?? "push",
      password: password)
  }

  /// Writes what is secret: for this user alone, and over nothing that is there.
  public static func write(_ bytes: [UInt8], to file: String) throws(CredentialsError) {
    guard !PathCalls.exists(file) else {
      throw CredentialsError(.exists, "\(file) is there already; choose another name, or remove it")
    }
    try FileSystem.write(bytes, to: file, permissions: FileSystem.secretFile)
  }
}
