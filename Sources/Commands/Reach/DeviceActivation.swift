import CourierWire
import PushModel
import Transport

/// Gets simulated devices their certificates from a running emulator, over HTTP as devices do.
struct DeviceActivation {
  let emulator: RunningEmulator

  /// A certificate in PEM for the key of a request. Waits for the answer.
  func certificate(for udid: UDID, csrPEM: [UInt8]) throws -> [UInt8] {
    let form = ActivationRequest.formBody(udid: udid, csrPEM: String(decoding: csrPEM, as: UTF8.self))
    let answer = try emulator.ask(
      "POST", "/deviceservices/deviceActivation?device=iPhone",
      fields: [HTTPField("content-type", "application/x-www-form-urlencoded")], body: form)
    return try answer.body.withUnsafeBytes { page throws in
      Array(try ActivationResponse.certificatePEM(in: page).utf8)
    }
  }
}
