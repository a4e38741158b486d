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
  private var password: PKCS12Password
  private var budget: DerivationBudget

  init(password: String, file: String) {
    self.file = file
    self.password = PKCS12Password(password)
    budget = DerivationBudget(file: file)
  }

  mutating func read(_ bundle: PKCS12Bundle) throws(CredentialsError) {
    defer { OpenSSLError.clear() }
    try findPassword(bundle)
    guard let safes = bundle.safes else { throw unreadable }
    for index in safes.indices { try read(safes, index) }
  }

  /// By the code that is over all of it.
  private mutating func findPassword(_ bundle: PKCS12Bundle) throws(CredentialsError) {
    for leftOut in password.isEmpty ? [true, false] : [false] {
      password.isLeftOut = leftOut
      try budget.charge(code: bundle.code)
      if bundle.isCoded(with: password) { return }
    }
    throw CredentialsError(.mismatched, "\(file) has another password than the one given")
  }

  private mutating func read(_ safes: PKCS12Safes, _ index: Int32) throws(CredentialsError) {
    let kind = safes.kind(index)
    guard kind == NID_pkcs7_data || kind == NID_pkcs7_encrypted else { return }
    let isEncrypted = kind == NID_pkcs7_encrypted
    if isEncrypted {
      guard let encryption = safes.encryption(index) else { throw unreadable }
      try budget.charge(encryption)
    }
    guard let bags = safes.bags(index, isEncrypted ? password : nil) else { throw unreadable }
    try read(bags, depth: 1)
  }

  private mutating func read(_ bags: PKCS12Bags, depth: Int) throws(CredentialsError) {
    guard depth <= Self.deepest else {
      throw CredentialsError(
        .unsuitable, "\(file): expected bags at most \(Self.deepest) deep, got bags within bags beyond that")
    }
    for index in bags.indices {
      switch bags.kind(index) {
      case NID_keyBag: key = key ?? bags.key(index)
      case NID_pkcs8ShroudedKeyBag:
        guard key == nil else { continue }
        try budget.charge(bags.encryption(index))
        guard let found = bags.key(index, password) else { throw unreadable }
        key = found
      case NID_certBag: certificates += [bags.certificate(index)].compactMap(\.self)
      case NID_safeContentsBag:
        guard let inner = bags.bags(index) else { throw unreadable }
        try read(inner, depth: depth + 1)
      default: continue
      }
    }
  }

  /// What keychains wrote for twenty years, and OpenSSL 3 has put away.
  private var unreadable: CredentialsError {
    CredentialsError(
      .unsuitable,
      "\(file) is encrypted in a way that OpenSSL 3 does not read (RC2, as older keychains write): convert it with "
        + "openssl pkcs12 -legacy -in \(file) -nodes -out push.pem")
  }
}
