import CourierWire
import Credentials
import Platform
import PushModel

extension DeviceIdentityVerifier {
  /// Verifies a connect command. By the system's clock: the device signs with its own, which nobody can move.
  func verify(_ request: ConnectRequest, _ logger: Logger) -> Result<VerifiedDevice, DeviceRefusal> {
    let result = verify(
      certificateDER: request.certificate ?? [], nonce: request.nonce ?? [],
      signature: request.signature ?? [],
      now: Timestamp(nanoseconds: SystemClock.wallNanoseconds()))
    if case .success(let device) = result, let leniency = device.leniency {
      logger.log(
        .warning, "device let through",
        [("udid", .string(device.udid.text)), ("because", .string(leniency.sentence))])
    }
    return result
  }
}
