/// Quick digests of tokens and payloads, to know a push again. They differ from one run of the program to the next, so that nobody can
/// choose two pushes that look alike; they protect nothing.
enum PushDigest {
  static func of(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    var hasher = Hasher()
    hasher.combine(bytes: bytes)
    return UInt64(bitPattern: Int64(hasher.finalize()))
  }
}

/// A push that comes in, to be compared with others. Each digest is computed when it is first asked for.
struct ComparedPush {
  private let push: LostPush
  private var ofToken: UInt64?
  private var ofPayload: UInt64?

  /// Lent, as `push` is.
  init(_ push: LostPush) { self.push = push }

  /// Digest of the device token.
  var token: UInt64 { mutating get { Self.digest(&ofToken, push.token) } }
  /// Digest of the payload.
  var payload: UInt64 { mutating get { Self.digest(&ofPayload, push.payload) } }

  private static func digest(_ computed: inout UInt64?, _ bytes: UnsafeRawBufferPointer) -> UInt64 {
    if let computed { return computed }
    let digest = PushDigest.of(bytes)
    computed = digest
    return digest
  }
}
