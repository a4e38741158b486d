import CourierWire
import Credentials
import Platform
import PushModel

extension DeviceIdentityVerifier {
  /// Verifies a connect command. By the system's clock: the device signs with its own, which nobody can move.
  ///
  /// A device that was asked for its certificate in the TLS handshake says no more about itself
  /// (`Documentation/device-protocol.md#alpn`, `apns-security-v2`); one that does is believed by what it says.
  func verify(
    _ request: ConnectRequest, handshakeCertificate: [UInt8]?, _ logger: Logger
  ) -> Result<VerifiedDevice, DeviceRefusal> {
    let now = Timestamp(nanoseconds: SystemClock.wallNanoseconds())
    let result =
      if !request.hasProof {
        verify(handshakeCertificateDER: handshakeCertificate ?? [], now: now)
      } else {
        verify(
          certificateDER: request.certificate ?? [], nonce: request.nonce ?? [],
          signature: request.signature ?? [], now: now, at: SystemClock.now())
      }
    if case .success(let device) = result, let leniency = device.leniency {
      logger.log(
        .warning, "device let through",
        [("udid", .string(device.udid.text)), ("because", .string(leniency.sentence))])
    }
    return result
  }
}

extension ConnectRequest {
  /// Whether it carries anything of a proof of identity.
  fileprivate var hasProof: Bool { certificate != nil || nonce != nil || signature != nil }
}
