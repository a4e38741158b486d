import PushModel

/// What a person's test push proves itself with, as the files that developers have: a certificate with its key, or a token key.
/// Used for the one push, and neither kept nor shown.
public struct PushCredential: JSONDocument {
  /// A `.p12`, `.pem`, `.cer` or `.p8`, told apart by what is in it.
  public var file: [UInt8] = []
  /// The file's name, for its key id and for sentences.
  public var name = "the file"
  /// The key, where it is in a file of its own.
  public var key: [UInt8]?
  /// Of either file.
  public var password = ""
  /// Of a token key; nil for what the file's name says.
  public var keyId: String?
  /// Of a token key; nil for what the certs folder knows.
  public var team: String?

  public static let form = JSONForm<PushCredential>([
    JSONField("file", .base64, \.file).needed, JSONField("name", .text, \.name),
    JSONField("key", .base64, \.key), JSONField("password", .text, \.password),
    JSONField("keyId", .name, \.keyId), JSONField("team", .name, \.team),
  ])

  public init() {}

  /// The same as a kind of value; nothing of it is ever written.
  static let kind = JSONKind<PushCredential>("an object", form.schema) { value, place in
    var credential = PushCredential()
    let object = try JSONObject(value, place: place)
    credential.file = try object.required("file", .base64)
    try form.read(object, into: &credential)
    return credential
  } write: { _ in
    .null
  }
}

/// What a credential was worth when it was looked at. Made and understood by module `Emulator`.
public protocol PushProof: Sendable {}
