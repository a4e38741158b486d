import Basics
import CourierWire
import PushModel

/// What a device says of itself when it connects.
enum DeviceIntroduction {
  /// Names of topics told in connect, as a count: the frame has to stay below the limit for strangers. The others are
  /// told with the app-token request.
  private static let topicNames = 32

  /// What it signs (`Documentation/device-protocol.md#authentication`).
  static func nonce(at date: Timestamp, random: UInt64) -> [UInt8] {
    [UInt8](capacity: 17) { nonce in
      nonce.append(0)
      nonce.append(native: UInt64(clamping: date.milliseconds).bigEndian)
      nonce.append(native: random)
    }
  }

  /// With the certificate in DER and the signature over the nonce that prove who it is.
  static func request(
    _ state: DeviceState, hasPhone: Bool, nonce: [UInt8], certificate: [UInt8], signature: [UInt8]
  ) -> ConnectRequest {
    var request = ConnectRequest()
    request.baseToken = state.baseToken
    (request.state, request.flags) = (1, 0x41)
    (request.carrier, request.protocolVersion) = ("WiFi", 11)
    (request.systemVersion, request.systemBuild, request.hardwareModel) = ("18.0", "22A3354", "iPhone17,1")
    (request.certificate, request.nonce, request.signature) = (certificate, nonce, signature)
    request.simulatedDevice = hasPhone ? ConnectRequest.withPhone : ConnectRequest.withoutPhone
    request.topicNames = state.apps.prefix(topicNames).map(\.topic)
    return request
  }
}
