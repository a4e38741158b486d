import Basics

/// Quick digests of tokens and payloads, to know a push again. They differ from one run of the program to the next, so that nobody can
/// choose two pushes that look alike; they protect nothing.
enum PushDigest {
  static func of(_ bytes: Span<UInt8>) -> UInt64 {
    var (hasher, position) = (Hasher(), 0)
    while position + 8 <= bytes.count {
      hasher.combine(bytes.native(UInt64.self, at: position))
      position += 8
    }
    for place in position..<bytes.count { hasher.combine(bytes[place]) }
    hasher.combine(bytes.count)
    return UInt64(bitPattern: Int64(hasher.finalize()))
  }
}

/// A push that comes in, to be compared with others. Each digest is computed when it is first asked for.
struct ComparedPush: ~Escapable {
  private let push: LostPush
  private var ofToken: UInt64?
  private var ofPayload: UInt64?

  @_lifetime(copy push)
  init(_ push: LostPush) { self.push = push }

  /// Digest of the device token.
  var token: UInt64 { mutating get { Self.digest(&ofToken, push.token) } }
  /// Digest of the payload.
  var payload: UInt64 { mutating get { Self.digest(&ofPayload, push.payload) } }

  private static func digest(_ computed: inout UInt64?, _ bytes: Span<UInt8>) -> UInt64 {
    if let computed { return computed }
    let digest = PushDigest.of(bytes)
    computed = digest
    return digest
  }
}
