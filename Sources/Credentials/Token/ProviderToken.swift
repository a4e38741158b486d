import Basics

/// A provider token (JWT in compact form) taken apart, not verified (`Documentation/provider-api.md#provider-tokens`).
public struct ProviderToken: Equatable, Sendable {
  /// Longest token taken, in bytes. Real ones have about 200; HTTP/2 header lists end at 8,000 or so.
  public static let maximumByteCount = 4096

  /// `kid` of the header.
  public let keyId: String
  /// `iss` of the claims.
  public let teamId: String
  /// `iat` of the claims.
  public let issuedAt: Timestamp
  /// The ECDSA signature in DER, whichever of the two forms came.
  let signature: [UInt8]
  /// What is signed: the bytes up to the second dot.
  let signedByteCount: Int
  /// What the signature is for.
  let algorithm: Algorithm
  /// What the documents have against it although Apple evidently serves such tokens; nil for nothing.
  let deviation: ProviderTokenRefusal?

  /// What `alg` of the header may say.
  enum Algorithm: String {
    case es256 = "ES256"
    /// SHA-512 over the same P-256 key, with scalars as long as the curve P-521 has them: what a PHP library sends that is
    /// told ES512 and given Apple's key (`Documentation/provider-api.md#what-clients-do`).
    case es512 = "ES512"

    /// In OpenSSL's spelling.
    var hash: String { self == .es256 ? "SHA256" : "SHA512" }
    /// Bytes of each scalar of the raw form (RFC 7518 3.4).
    var fieldByteCount: Int { self == .es256 ? ECDSASignature.scalarByteCount : 66 }
  }

  /// Takes a token apart. Pure and bounded; made for fuzzing.
  public static func parse(_ compact: [UInt8]) -> Result<ProviderToken, ProviderTokenRefusal> {
    Result { () throws(ProviderTokenRefusal) in try ProviderToken(compact) }
  }

  init(_ compact: [UInt8]) throws(ProviderTokenRefusal) {
    guard compact.count <= Self.maximumByteCount else {
      throw .invalid("the token has \(compact.count) bytes, more than \(Self.maximumByteCount)")
    }
    let parts = compact.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count == 3 else { throw .invalid("the token does not have three parts between dots") }
    let header = try Self.object(parts[0], "header")
    algorithm = try Self.algorithm(header)
    // RFC 7515 4.1.11: whoever does not understand what it lists must refuse, and we understand nothing.
    guard header.member("crit") == nil else {
      throw .invalid("the header has crit, and no critical extension is supported")
    }
    keyId = try Self.identifier(header, "kid", "header")
    let claims = try Self.object(parts[1], "claims")
    teamId = try Self.identifier(claims, "iss", "claims")
    issuedAt = try Self.issuedAt(claims)
    deviation = Self.deviation(algorithm, claims)
    guard let signature = Base64.decode(parts[2], .webToken),
      let der = ECDSASignature.der(from: signature, fieldByteCount: algorithm.fieldByteCount)
    else {
      throw .invalid(
        "the signature is neither \(2 * algorithm.fieldByteCount) raw bytes nor ASN.1 DER in Base64, of a P-256 key"
      )
    }
    self.signature = der
    signedByteCount = parts[0].count + 1 + parts[1].count
  }

  private static func algorithm(_ header: JSONValue) throws(ProviderTokenRefusal) -> Algorithm {
    let name = header.string("alg") ?? "none"
    guard let algorithm = Algorithm(rawValue: name) else {
      throw .invalid("alg is \(quoted(name)), only \"ES256\" is accepted")
    }
    return algorithm
  }

  private static func deviation(_ algorithm: Algorithm, _ claims: JSONValue) -> ProviderTokenRefusal? {
    if algorithm == .es512 { return .invalid("alg is \"ES512\", the documents say \"ES256\" only") }
    return claims.string("iat") == nil ? nil : .invalid("iat is a string, the documents say a number")
  }

  private static func object(_ part: ArraySlice<UInt8>, _ name: String) throws(ProviderTokenRefusal)
    -> JSONValue
  {
    guard let text = Base64.decode(part, .webToken), let value = JSONReader.read(text), case .object = value
    else {
      throw .invalid("the \(name) is not a JSON object in Base64")
    }
    return value
  }

  /// Seconds as a JSON number, or their digits in a string: kalyke-apns has written it so since its first version, and
  /// serves its users at Apple.
  private static func issuedAt(_ claims: JSONValue) throws(ProviderTokenRefusal) -> Timestamp {
    if let number = claims.timestamp("iat") { return number }
    guard let digits = claims.string("iat"), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let seconds = UInt32(digits)
    else { throw .invalid("iat in the claims is not a number of seconds") }
    return Timestamp(seconds: Int64(seconds))
  }

  private static func identifier(
    _ object: JSONValue, _ name: String, _ part: String
  ) throws(ProviderTokenRefusal) -> String {
    guard let text = object.string(name), !text.isEmpty, ProviderKeyRecord.isIdentifier(text) else {
      throw .invalid("\(name) is missing from the \(part) or is not a short word")
    }
    return text
  }

  /// For messages: what a peer wrote, short and without control characters.
  private static func quoted(_ text: String) -> String { JSONValue.string(String(text.prefix(32))).text }

  /// What stands for the tokens of a key where they must not appear: 32 hexadecimal digits, the same on every machine.
  public static func digest(keyId: String, teamId: String) -> String {
    let message = ["apns-emulator", teamId, keyId].joined(separator: "\0")
    return Hex.encode(Digests.sha256(Array(message.utf8)).prefix(16))
  }
}

/// Makes provider tokens, as a provider does (`Documentation/provider-api.md#provider-tokens`).
public final class ProviderTokenSigner {
  private let key: PrivateKey
  private let keyId: String
  private let teamId: String

  /// Reads a `.p8` file.
  public init(p8Path: String, keyId: String, teamId: String) throws(CredentialsError) {
    guard let key = PrivateKey(pem: try FileSystem.readNamed(p8Path)), key.isP256 else {
      throw CredentialsError(.malformed, "\(p8Path) is not a P-256 key in PKCS#8 PEM")
    }
    self.key = key
    self.keyId = keyId
    self.teamId = teamId
  }

  /// Key id and team of a `.p8` file. What is not said of it is taken from its name (`AuthKey_<KEY>.p8`) and from the description
  /// of that key beside it; throws which flag is missing then.
  public static func keyAndTeam(ofFile path: String, keyId: String?, team: String?) throws(CredentialsError)
    -> (keyId: String, team: String)
  {
    let file = path.split(separator: "/").last.map(String.init) ?? path
    guard let keyId = keyId ?? ProviderKey.keyId(inFileName: file) else {
      throw CredentialsError(
        .unsuitable, "--key-id is missing, and \(file) is not named AuthKey_<KEY>.p8")
    }
    let record = (try? FileSystem.read("\(path.dropLast(file.count))\(keyId).json")).flatMap {
      JSONReader.read($0)
    }
    guard let team = team ?? record?.string("teamId") else {
      throw CredentialsError(.unsuitable, "--team is missing, and there is no \(keyId).json beside the key")
    }
    return (keyId, team)
  }

  /// The key in a `.p8` file, or nil if the file holds something else. What is not said of it is taken from the file's name
  /// (`AuthKey_<KEY>.p8`) and from the description of that key in the folder.
  public init?(
    p8: [UInt8], name: String, keyId: String?, team: String?, folder: CertsFolder
  ) throws(CredentialsError) {
    guard Certificate.all(pem: p8).isEmpty, let key = PrivateKey(pem: p8), key.isP256 else { return nil }
    guard let id = keyId ?? ProviderKey.keyId(inFileName: name) else {
      throw CredentialsError(
        .unsuitable, "\(name): expected a key id, as the file is not named AuthKey_<KEY>.p8, got none")
    }
    guard let team = team ?? folder.tokenKey(inFile: "\(id).json")?.teamId else {
      throw CredentialsError(
        .unsuitable,
        "\(name): expected the team of key \(id), as the certs folder does not have that key, got none")
    }
    (self.key, self.keyId, teamId) = (key, id, team)
  }

  /// A token issued at a moment, in compact form with a raw signature. Good for an hour.
  public func token(at now: Timestamp) throws(CredentialsError) -> String {
    let header: JSONValue = ["alg": "ES256", "kid": .string(keyId)]
    let claims: JSONValue = ["iss": .string(teamId), "iat": .integer(now.seconds)]
    let message = Base64.encodeForURL(header.encoded) + "." + Base64.encodeForURL(claims.encoded)
    let der = try key.signature(over: Array(message.utf8), hash: "SHA256")
    guard let signature = ECDSASignature.raw(from: der) else {
      throw CredentialsError(.cryptography, "OpenSSL made an unreadable signature")
    }
    return message + "." + Base64.encodeForURL(signature)
  }
}
