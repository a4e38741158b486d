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
    while let der = buffer.nextPEM() { try budget.charge(AlgorithmIdentifier(ofEncryptedKey: der)) }
  }

  /// The rounds of the code over a file.
  mutating func charge(code: (algorithm: AlgorithmIdentifier?, rounds: Int64)) throws(CredentialsError) {
    try charge(rounds: code.rounds)
    // Its parameters are named as those of PBES2 are (RFC 9579): how the key is derived, then what it is for.
    if let algorithm = code.algorithm, algorithm.kind == NID_pbmac1 { try charge(nested: algorithm) }
  }

  /// The rounds of an encryption by password; anything else costs nothing.
  mutating func charge(_ algorithm: AlgorithmIdentifier?) throws(CredentialsError) {
    guard let algorithm else { return }
    switch algorithm.kind {
    case NID_pbes2: try charge(nested: algorithm)
    case NID_id_pbkdf2: try charge(rounds: algorithm.derivationRounds ?? 0)
    case NID_id_scrypt: try charge(scrypt: algorithm.scryptFactors ?? [0])
    default: try charge(rounds: algorithm.encryptionRounds ?? 0)
    }
  }

  private mutating func charge(nested algorithm: AlgorithmIdentifier) throws(CredentialsError) {
    guard let derivation = algorithm.derivation else { return }
    guard derivation.kind != NID_pbes2 else { throw tooMuch("more") }
    try charge(derivation)
  }

  private mutating func charge(rounds count: Int64) throws(CredentialsError) {
    guard (0...Self.mostRounds).contains(count) else { throw tooMuch("\(count)") }
    try spend(count)
  }

  /// Counted among the rounds as what takes about as long.
  private mutating func charge(scrypt factors: [Int64]) throws(CredentialsError) {
    var work: Int64 = 1
    for factor in factors {
      let (product, overflow) = work.multipliedReportingOverflow(by: factor)
      guard factor >= 0, !overflow, product <= Self.mostScryptWork else {
        throw CredentialsError(
          .unsuitable, "\(file): expected scrypt with at most \(Self.mostScryptWork) steps, got more")
      }
      work = product
    }
    try spend(work)
  }

  private mutating func spend(_ count: Int64) throws(CredentialsError) {
    spent += count
    guard spent <= Self.mostRoundsInAll else { throw tooMuch("\(spent) in all") }
  }

  private func tooMuch(_ count: String) -> CredentialsError {
    CredentialsError(
      .unsuitable,
      "\(file): expected at most \(Self.mostRounds) rounds of a key derivation, and \(Self.mostRoundsInAll) in all, got \(count)"
    )
  }
}
