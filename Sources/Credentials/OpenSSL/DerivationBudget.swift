import COpenSSL

/// What deriving keys from a password may cost for one file. How many rounds that takes is written in the file, so it is read and
/// counted before anything is deciphered: 2³¹ rounds are half an hour of a processor, and a file has room for a thousand of them.
struct DerivationBudget {
  /// Most rounds of one derivation, as a count: programs write 2,048 to 600,000. A million take half a second.
  static let mostRounds: Int64 = 1_000_000
  /// Most rounds of all derivations of a file together: its code, its certificates, its key.
  static let mostRoundsInAll: Int64 = 4_000_000
  /// Most that scrypt may do, as cost × block size × lanes; `openssl -scrypt` writes 131,072, which takes 50 ms.
  static let mostScryptWork: Int64 = 1 << 21

  /// For error sentences.
  private let file: String
  private var spent: Int64 = 0

  init(file: String) { self.file = file }

  /// Before any encrypted key in a PEM text is deciphered.
  static func check(pem: [UInt8], file: String) throws(CredentialsError) {
    defer { OpenSSLError.clear() }
    guard let buffer = MemoryBuffer(pem) else { return }
    var budget = DerivationBudget(file: file)
    var (name, header): (UnsafeMutablePointer<CChar>?, UnsafeMutablePointer<CChar>?)
    var (bytes, count): (UnsafeMutablePointer<UInt8>?, Int) = (nil, 0)
    while PEM_read_bio(buffer.handle, &name, &header, &bytes, &count) == 1 {
      defer {
        shim_free(name)
        shim_free(header)
        shim_free(bytes)
      }
      try budget.charge(encryptedKey: UnsafeBufferPointer(start: bytes, count: count))
    }
  }

  /// The rounds of an `EncryptedPrivateKeyInfo` in DER; anything else costs nothing.
  private mutating func charge(encryptedKey der: UnsafeBufferPointer<UInt8>) throws(CredentialsError) {
    var cursor = der.baseAddress
    guard let key = d2i_X509_SIG(nil, &cursor, der.count) else { return }
    defer { X509_SIG_free(key) }
    var algorithm: UnsafePointer<X509_ALGOR>?
    X509_SIG_get0(key, &algorithm, nil)
    try charge(algorithm)
  }

  /// The rounds of the code over a `PKCS12`.
  mutating func charge(codeOf bundle: OpaquePointer) throws(CredentialsError) {
    var algorithm: UnsafePointer<X509_ALGOR>?
    var rounds: UnsafePointer<ASN1_INTEGER>?
    PKCS12_get0_mac(nil, &algorithm, nil, &rounds, bundle)
    try charge(rounds)
    // Its parameters are named as those of PBES2 are (RFC 9579): how the key is derived, then what it is for.
    if Self.kind(algorithm) == NID_pbmac1 { try charge(nested: algorithm) }
  }

  /// The rounds of an encryption by password.
  mutating func charge(_ algorithm: UnsafePointer<X509_ALGOR>?) throws(CredentialsError) {
    switch Self.kind(algorithm) {
    case NID_pbes2: try charge(nested: algorithm)
    case NID_id_pbkdf2:
      guard let it = Self.parameters(algorithm, d2i_PBKDF2PARAM) else { return }
      defer { PBKDF2PARAM_free(it) }
      try charge(it.pointee.iter)
    case NID_id_scrypt:
      guard let it = Self.parameters(algorithm, d2i_SCRYPT_PARAMS) else { return }
      defer { SCRYPT_PARAMS_free(it) }
      try charge(scrypt: it.pointee)
    default:
      guard let it = Self.parameters(algorithm, d2i_PBEPARAM) else { return }
      defer { PBEPARAM_free(it) }
      try charge(it.pointee.iter)
    }
  }

  private mutating func charge(nested algorithm: UnsafePointer<X509_ALGOR>?) throws(CredentialsError) {
    guard let both = Self.parameters(algorithm, d2i_PBE2PARAM) else { return }
    defer { PBE2PARAM_free(both) }
    guard Self.kind(both.pointee.keyfunc) != NID_pbes2 else { throw tooMuch("more") }
    try charge(both.pointee.keyfunc)
  }

  private mutating func charge(_ rounds: UnsafePointer<ASN1_INTEGER>?) throws(CredentialsError) {
    // One where it is left out.
    let count = rounds.map { Self.number($0) } ?? 1
    guard (0...Self.mostRounds).contains(count) else { throw tooMuch("\(count)") }
    spent += count
    guard spent <= Self.mostRoundsInAll else { throw tooMuch("\(spent) in all") }
  }

  /// Counted among the rounds as what takes about as long.
  private mutating func charge(scrypt it: SCRYPT_PARAMS) throws(CredentialsError) {
    var work: Int64 = 1
    for part in [it.costParameter, it.blockSize, it.parallelizationParameter] {
      let factor = Self.number(part.map { UnsafePointer($0) })
      let (product, overflow) = work.multipliedReportingOverflow(by: factor)
      guard factor >= 0, !overflow, product <= Self.mostScryptWork else {
        throw CredentialsError(
          .unsuitable, "\(file): expected scrypt with at most \(Self.mostScryptWork) steps, got more")
      }
      work = product
    }
    spent += work
    guard spent <= Self.mostRoundsInAll else { throw tooMuch("\(spent) in all") }
  }

  private func tooMuch(_ count: String) -> CredentialsError {
    CredentialsError(
      .unsuitable,
      "\(file): expected at most \(Self.mostRounds) rounds of a key derivation, and \(Self.mostRoundsInAll) in all, got \(count)"
    )
  }

  /// What a number of the file is; what has no room in 64 bits is more than any limit.
  private static func number(_ value: UnsafePointer<ASN1_INTEGER>?) -> Int64 {
    var number: Int64 = 0
    guard let value, ASN1_INTEGER_get_int64(&number, value) == 1 else { return .max }
    return number
  }

  private static func kind(_ algorithm: UnsafePointer<X509_ALGOR>?) -> Int32 {
    var object: OpaquePointer?
    X509_ALGOR_get0(&object, nil, nil, algorithm)
    return OBJ_obj2nid(object)
  }

  /// The algorithm's parameters, if they are of that form; to be freed.
  private static func parameters<Form>(
    _ algorithm: UnsafePointer<X509_ALGOR>?,
    _ decode: (
      UnsafeMutablePointer<UnsafeMutablePointer<Form>?>?, UnsafeMutablePointer<UnsafePointer<UInt8>?>?, Int
    ) -> UnsafeMutablePointer<Form>?
  ) -> UnsafeMutablePointer<Form>? {
    var kind: Int32 = 0
    var value: UnsafeRawPointer?
    X509_ALGOR_get0(nil, &kind, &value, algorithm)
    guard kind == V_ASN1_SEQUENCE, let value else { return nil }
    let bytes = value.assumingMemoryBound(to: ASN1_STRING.self)
    var cursor = ASN1_STRING_get0_data(bytes)
    return decode(nil, &cursor, Int(ASN1_STRING_length(bytes)))
  }
}
