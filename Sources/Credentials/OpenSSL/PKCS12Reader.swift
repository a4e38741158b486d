import COpenSSL

/// Reads a PKCS#12 file part by part, as what each costs to decipher is the file's to say: `PKCS12_parse` would pay it unasked.
struct PKCS12Reader {
  /// How deep bags may lie in bags, as a count; files of real programs have one level.
  private static let deepest = 4

  /// The first key; nil if there is none.
  private(set) var key: PrivateKey?
  /// In the order of the file.
  private(set) var certificates: [Certificate] = []

  private let file: String
  private let given: [CChar]
  /// Whether it is left out rather than empty: for PKCS#12 that is not the same, and both are written.
  private var isLeftOut = false
  private var budget: DerivationBudget

  init(password: String, file: String) {
    self.file = file
    given = Array(password.utf8CString)
    budget = DerivationBudget(file: file)
  }

  /// Takes the `PKCS12` that `bundle` points to, which stays the caller's.
  mutating func read(_ bundle: OpaquePointer) throws(CredentialsError) {
    defer { OpenSSLError.clear() }
    try findPassword(bundle)
    guard let safes = PKCS12_unpack_authsafes(bundle) else { throw unreadable }
    defer { OPENSSL_sk_pop_free(safes) { PKCS7_free($0?.assumingMemoryBound(to: PKCS7.self)) } }
    for index in 0..<max(0, OPENSSL_sk_num(safes)) {
      guard let safe = OPENSSL_sk_value(safes, index) else { continue }
      try read(safe: safe.assumingMemoryBound(to: PKCS7.self))
    }
  }

  /// By the code that is over all of it.
  private mutating func findPassword(_ bundle: OpaquePointer) throws(CredentialsError) {
    for leftOut in given.count == 1 ? [true, false] : [false] {
      isLeftOut = leftOut
      try budget.charge(codeOf: bundle)
      if withPassword({ PKCS12_verify_mac(bundle, $0, $1) }) == 1 { return }
    }
    throw CredentialsError(.mismatched, "\(file) has another password than the one given")
  }

  private func withPassword<Value>(_ use: (UnsafePointer<CChar>?, Int32) -> Value) -> Value {
    isLeftOut ? use(nil, 0) : given.withUnsafeBufferPointer { use($0.baseAddress, Int32($0.count - 1)) }
  }

  private mutating func read(safe: UnsafeMutablePointer<PKCS7>) throws(CredentialsError) {
    switch OBJ_obj2nid(safe.pointee.type) {
    case NID_pkcs7_data: try take(PKCS12_unpack_p7data(safe))
    case NID_pkcs7_encrypted:
      guard let content = safe.pointee.d.encrypted?.pointee.enc_data else { throw unreadable }
      try budget.charge(content.pointee.algorithm)
      try take(withPassword { PKCS12_unpack_p7encdata(safe, $0, $1) })
    default: return
    }
  }

  /// Reads bags and frees them.
  private mutating func take(_ bags: OpaquePointer?) throws(CredentialsError) {
    guard let bags else { throw unreadable }
    defer { OPENSSL_sk_pop_free(bags) { PKCS12_SAFEBAG_free(OpaquePointer($0)) } }
    try read(bags: bags, depth: 1)
  }

  private mutating func read(bags: OpaquePointer, depth: Int) throws(CredentialsError) {
    guard depth <= Self.deepest else {
      throw CredentialsError(
        .unsuitable, "\(file): expected bags at most \(Self.deepest) deep, got bags within bags beyond that")
    }
    for index in 0..<max(0, OPENSSL_sk_num(bags)) {
      guard let bag = OPENSSL_sk_value(bags, index).map({ OpaquePointer($0) }) else { continue }
      switch PKCS12_SAFEBAG_get_nid(bag) {
      case NID_keyBag: takeKey(PKCS12_SAFEBAG_get0_p8inf(bag))
      case NID_pkcs8ShroudedKeyBag: try read(encryptedKey: bag)
      case NID_certBag:
        if let certificate = PKCS12_SAFEBAG_get1_cert(bag) {
          certificates.append(Certificate(owning: certificate))
        }
      case NID_safeContentsBag:
        guard let inner = PKCS12_SAFEBAG_get0_safes(bag) else { throw unreadable }
        try read(bags: inner, depth: depth + 1)
      default: continue
      }
    }
  }

  private mutating func read(encryptedKey bag: OpaquePointer) throws(CredentialsError) {
    guard key == nil else { return }
    var algorithm: UnsafePointer<X509_ALGOR>?
    X509_SIG_get0(PKCS12_SAFEBAG_get0_pkcs8(bag), &algorithm, nil)
    try budget.charge(algorithm)
    guard let clear = withPassword({ PKCS12_decrypt_skey(bag, $0, $1) }) else { throw unreadable }
    defer { PKCS8_PRIV_KEY_INFO_free(clear) }
    takeKey(clear)
  }

  private mutating func takeKey(_ clear: OpaquePointer?) {
    guard key == nil, let clear, let handle = EVP_PKCS82PKEY(clear) else { return }
    key = PrivateKey(owning: handle)
  }

  /// What keychains wrote for twenty years, and OpenSSL 3 has put away.
  private var unreadable: CredentialsError {
    CredentialsError(
      .unsuitable,
      "\(file) is encrypted in a way that OpenSSL 3 does not read (RC2, as older keychains write): convert it with "
        + "openssl pkcs12 -legacy -in \(file) -nodes -out push.pem")
  }
}
