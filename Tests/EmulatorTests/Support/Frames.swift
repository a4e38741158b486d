import Basics
import Foundation
import LegacyWire
import PushModel

/// Frames of the binary protocol. Bytes are the documentation's (`Documentation/binary-protocol.md#frames`,
/// `#error-packet`); only tokens that must be registered are put in.
enum Frames {
  /// The documentation's token T, which is registered nowhere.
  static let unknownToken = (0..<32).map { UInt8($0) }
  /// The documentation's payload P.
  static let payload = bytes("7b22617073223a7b22616c657274223a224869227d7d")

  /// A command 2 frame with all items, as in `Documentation/binary-protocol.md#frames`.
  static func full(_ token: DeviceToken, id: UInt32, payload: [UInt8] = payload, expiry: UInt32 = .max)
    -> [UInt8]
  {
    LegacyEncoder.frame(
      token: token.bytes, payload: payload, identifier: id, expiration: expiry, priority: 10)
  }

  static func text(_ text: String) -> [UInt8] { Array("{\"aps\":{\"alert\":\"\(text)\"}}".utf8) }
}

/// The frames that a capture's file has, as text.
func capturedFrames(_ path: String) throws -> [String] {
  try String(contentsOfFile: path, encoding: .utf8).matches(of: /"([A-Za-z0-9+\/=]{40,})"/)
    .compactMap { Base64.decode($0.1.utf8) }.map { String(decoding: $0, as: UTF8.self) }
}
