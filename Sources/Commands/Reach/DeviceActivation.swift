import CourierWire
import Platform
import PushModel
import Transport

/// Gets simulated devices their certificates from a running emulator, over HTTP as devices do.
struct DeviceActivation {
  /// How often it is asked when too many ask at once, as a count.
  private static let attempts = 10
  /// Between two of them, in seconds: the least that its answer can ask for.
  private static let pause: UInt32 = 1

  let emulator: RunningEmulator

  /// A certificate in PEM for the key of a request. Waits for the answer.
  func certificate(for udid: UDID, csrPEM: [UInt8]) throws -> [UInt8] {
    let form = ActivationRequest.formBody(udid: udid, csrPEM: String(decoding: csrPEM, as: UTF8.self))
    let answer = try ask(form)
    // The service's own refusals are pages.
    guard answer.field("content-type")?.hasPrefix(ActivationResponse.contentType) == true else {
      throw RunningEmulator.refused(answer, about: "activation")
    }
    return try answer.body.withUnsafeBytes { page throws in
      Array(try ActivationResponse.certificatePEM(in: page).utf8)
    }
  }

  private func ask(_ form: [UInt8]) throws -> HTTPResponse {
    var attempt = 1
    while true {
      let answer = try emulator.ask(
        "POST", "/deviceservices/deviceActivation?device=iPhone",
        fields: [HTTPField("content-type", "application/x-www-form-urlencoded")], body: form)
      guard answer.status == 503, answer.field("retry-after") != nil, attempt < Self.attempts else {
        return answer
      }
      attempt += 1
      sleep(Self.pause)
    }
  }
}
