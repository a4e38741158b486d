import COpenSSL

/// OpenSSL as a whole.
public enum OpenSSLLibrary {
  private static let isKept = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1

  /// Keeps what OpenSSL shares between threads until the process is gone. It would take it apart in `exit`, below whatever
  /// thread is still in it: an emulator's that is being stopped, or one that makes a phone's key (`OPENSSL_init_crypto(3)`).
  /// To be called before anything else of OpenSSL; what others have called before, they answer for.
  public static func keepUntilTheEnd() { _ = isKept }
}
