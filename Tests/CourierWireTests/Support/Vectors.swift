import Basics

/// The hex examples of `Documentation/device-protocol.md#hex-examples`.
enum Vectors {
  static let baseTokenHex = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
  static let appTokenHex = "404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f"
  static let topicHex = "a003f1da17993ee51f2b3ceef6c6153afa8f3ec2"
  static let payload = #"{"aps":{"alert":"hi"}}"#

  static let connect = bytes(
    """
    07 00000034  02 0001 01  05 0004 00000041  0c 0004 3082aabb
    0d 0011 00 0000018bcfe56800 1122334455667788
    0e 0006 0101deadbeef  10 0002 000b
    """)
  static let connected = bytes(
    """
    08 00000048  01 0001 00  03 0020 \(baseTokenHex)
    04 0002 1000  05 0002 0002  06 0004 0000000c  08 0002 3c00  0a 0008 0000018bcfe5687b
    """)
  static let emptyFilter = bytes("09 00000023  01 0020 \(baseTokenHex)")
  static let filter = bytes("09 0000003a  01 0020 \(baseTokenHex)  02 0014 \(topicHex)")
  static let appTokenRequest = bytes("11 0000003a  01 0020 \(baseTokenHex)  02 0014 \(topicHex)")
  static let appTokenResponse = bytes("12 0000003e  01 0001 00  02 0020 \(appTokenHex)  03 0014 \(topicHex)")
  static let message = bytes(
    """
    0a 00000074  01 0020 \(appTokenHex)  02 0014 \(topicHex)
    03 0016 7b22617073223a7b22616c657274223a226869227d7d
    04 0004 00001001  05 0004 ffffffff  06 0008 17979cfe3d85cd15  07 0001 00  0d 0001 0a
    """)
  static let acknowledgement = bytes("0b 0000002e  04 0004 00001001  08 0001 00  01 0020 \(appTokenHex)")
  static let shortAcknowledgement = bytes("0b 0000000b  04 0004 00001001  08 0001 00")
  static let keepAlive = bytes("0c 00000000")
  static let keepAliveAnswer = bytes("0d 00000000")
  static let noStorage = bytes("0e 00000023  01 0020 \(baseTokenHex)")
  static let setState = bytes("14 0000000b  01 0001 01  02 0004 7fffffff")

  static let all = [
    connect, connected, emptyFilter, filter, appTokenRequest, appTokenResponse, message, acknowledgement,
    shortAcknowledgement, keepAlive, keepAliveAnswer, noStorage, setState,
  ]
  static let allFrames = all.map { CopiedFrame(command: $0[0], body: Array($0[5...])) }
}
