import Basics

/// The byte vectors of `Documentation/binary-protocol.md#frames`, typed from the documentation.
enum Example {
  static let token = Array(UInt8(0)...31)
  static let payload = Array(#"{"aps":{"alert":"Hi"}}"#.utf8)
  static let T = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
  static let P = "7b22617073223a7b22616c657274223a224869227d7d"

  static let simple = bytes("00 0020 \(T) 0016 \(P)")
  static let enhanced = bytes("01 0000002a 6553f100 0020 \(T) 0016 \(P)")
  static let enhancedWithoutStorage = bytes("01 0000002b 00000000 0020 \(T) 0016 \(P)")
  static let full = bytes(
    """
    020000004e010020000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f0200167b22617073223a7b22616c657274\
    223a224869227d7d0300040000002a0400046553f1000500010a
    """)
  static let idFirst = bytes(
    """
    020000004e0300040000002a010020000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f0200167b22617073223a\
    7b22616c657274223a224869227d7d0400046553f1000500010a
    """)
  static let minimal = bytes(
    """
    020000003c010020000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f0200167b22617073223a7b22616c657274\
    223a224869227d7d
    """)
  /// pushy 0.4.3 `KnownBadPushNotification` (`Documentation/binary-protocol.md#deliberately-bad-frames`).
  static let pushyFlush = bytes("02 00000018 0300040000002a 010000 020000 04000400000000 0500010a")
  /// java-apns `testConnection` (`Documentation/binary-protocol.md#deliberately-bad-frames`).
  static let javaProbe = bytes("01 00000000 00000000 0001 00 0001 00")
  static let withoutToken = bytes("02 00000020 02 0016 \(P) 03 0004 0000002a")
  static let withoutPayload = bytes("02 0000002a 01 0020 \(T) 03 0004 0000002a")
  static let shortToken = bytes("02 00000042 01 001f \(T.dropLast(2)) 02 0016 \(P) 03 0004 0000002a")

  static func bytes(_ hex: String) -> [UInt8] { Hex.decode(hex.filter { !$0.isWhitespace }) ?? [] }
}
