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
  let token: UInt64
  private let bytes: UnsafeRawBufferPointer
  private var computed: UInt64?

  /// Lent, as `push` is.
  init(_ push: LostPush) {
    (token, bytes) = (PushDigest.of(push.token), push.payload)
  }

  /// Digest of the payload.
  var payload: UInt64 {
    mutating get {
      if let computed { return computed }
      let digest = PushDigest.of(bytes)
      computed = digest
      return digest
    }
  }
}
