import COpenSSL

/// An OpenSSL memory BIO: the way PEM text goes in and out.
@safe struct MemoryBuffer: ~Copyable {
  private let bio: Owned<OpaquePointer>
  var handle: OpaquePointer { unsafe bio.handle }

  /// An empty buffer to write to; nil when memory is short.
  init?() {
    guard let bio = unsafe Owned(BIO_new(BIO_s_mem()), { unsafe BIO_free($0) }) else { return nil }
    unsafe self.bio = unsafe bio
  }

  /// A buffer that holds a copy of `bytes`; nil when memory is short or the count does not fit OpenSSL's integer.
  init?(_ bytes: [UInt8]) {
    guard let count = Int32(exactly: bytes.count),
      let bio = unsafe Owned(BIO_new(BIO_s_mem()), { unsafe BIO_free($0) }),
      unsafe count == 0 || BIO_write(bio.handle, bytes, count) == count
    else { return nil }
    unsafe self.bio = unsafe bio
  }

  /// The bytes of the next block of a PEM text; nil if there is none.
  func nextPEM() -> [UInt8]? {
    var (name, header): (UnsafeMutablePointer<CChar>?, UnsafeMutablePointer<CChar>?)
    var (bytes, count): (UnsafeMutablePointer<UInt8>?, Int) = (nil, 0)
    guard unsafe PEM_read_bio(handle, &name, &header, &bytes, &count) == 1 else { return nil }
    defer {
      unsafe [UnsafeMutableRawPointer(name), .init(header), .init(bytes)].forEach { unsafe shim_free($0) }
    }
    return unsafe Array(UnsafeBufferPointer(start: bytes, count: count))
  }

  /// What was written and not yet read.
  var contents: [UInt8] {
    var start: UnsafePointer<UInt8>?
    let count = unsafe shim_bio_contents(handle, &start)
    return unsafe Array(UnsafeBufferPointer(start: start, count: count))
  }

  /// One of the `d2i_…` functions.
  typealias Decoder<Handle> = (
    UnsafeMutablePointer<Handle?>?, UnsafeMutablePointer<UnsafePointer<UInt8>?>?, Int
  ) -> Handle?

  /// What begins some bytes, which is the caller's to free, and whether it is all of them; nil if it is something else.
  static func decoded<Handle>(
    _ bytes: [UInt8], _ decode: Decoder<Handle>
  ) -> (handle: Handle, isWhole: Bool)? {
    unsafe bytes.withUnsafeBufferPointer { bytes in
      var cursor = bytes.baseAddress
      guard let handle = unsafe decode(nil, &cursor, bytes.count) else { return nil }
      return unsafe (handle, cursor == bytes.baseAddress.map { unsafe $0 + bytes.count })
    }
  }

  /// Puts out what `encode` produces when first asked for the length and then for the bytes (the `i2d_…` functions).
  static func encoded(_ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32) -> [UInt8]? {
    let count = Int(encode(nil))
    guard count > 0 else { return nil }
    return unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      var cursor = buffer.baseAddress
      initialized = unsafe max(0, Int(encode(&cursor)))
    }
  }
}

/// OpenSSL keeps what went wrong in a queue per thread. A stale entry would be blamed on the next TLS call,
/// so everything here that can fail empties the queue before it returns.
enum OpenSSLError {
  /// Forgets what went wrong so far.
  static func clear() { ERR_clear_error() }

  /// Takes the newest reason out of the queue as an error; `action` says what was tried.
  static func take(_ action: String) -> CredentialsError {
    defer { ERR_clear_error() }
    guard let text = unsafe ERR_reason_error_string(ERR_peek_last_error()).map({ unsafe String(cString: $0) })
    else {
      return CredentialsError(.cryptography, "OpenSSL could not \(action)")
    }
    return CredentialsError(.cryptography, "OpenSSL could not \(action): \(text)")
  }
}

/// OpenSSL as a whole.
public enum OpenSSLLibrary {
  private static let isKept = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1

  /// Keeps what OpenSSL shares between threads until the process is gone. It would take it apart in `exit`, below whatever
  /// thread is still in it: an emulator's that is being stopped, or one that makes a phone's key (`OPENSSL_init_crypto(3)`).
  /// To be called before anything else of OpenSSL; what others have called before, they answer for.
  public static func keepUntilTheEnd() { _ = isKept }
}
