import CourierWire
import Credentials
import Platform
import PushModel
import SimulatedDevice
import Transport

/// What a simulated device keeps across runs, beside each other in the certs folder: key, certificate, state.
package struct DeviceFiles {
  private let folder: String
  package let udid: UDID
  /// Names a state beside the usual one; no UDID has the sign that parts the two.
  private let stateName: String?

  package init(folder: String, udid: UDID, stateName: String? = nil) {
    (self.folder, self.udid, self.stateName) = (folder, udid, stateName)
  }

  private var certificatePath: String { "\(folder)/\(udid.text).pem" }
  private var keyPath: String { "\(folder)/\(udid.text).key" }
  private var statePath: String { "\(folder)/\(udid.text)\(stateName.map { "+\($0)" } ?? "").json" }

  /// Key and certificate; nil before the first activation.
  package func identity() -> DeviceIdentity? { try? DeviceIdentity.load(pem: certificatePath, key: keyPath) }

  /// The same, with the key of another device if it is that one.
  func identity(sharing other: DeviceIdentity?) -> DeviceIdentity? {
    guard let other, let certificate = try? TextFile.read(certificatePath),
      let identity = try? DeviceIdentity(certificatePEM: certificate, keyOf: other)
    else { return identity() }
    return identity
  }

  /// The state of the last run, or that of a new device.
  package func state() throws -> DeviceState {
    guard PathCalls.exists(statePath) else { return DeviceState(udid: udid) }
    do {
      return try DeviceState(json: TextFile.read(statePath))
    } catch let error as DeviceState.UnreadableError {
      throw CommandFailure("\(statePath): \(error.description); remove the file to start again")
    }
  }

  package func keep(_ state: DeviceState) throws { try TextFile.write(statePath, state.json.encoded) }

  package func keep(certificatePEM: [UInt8], keyPEM: [UInt8]) throws {
    _ = PathCalls.makeFolder(folder, 0o700)
    try TextFile.write(keyPath, keyPEM, isSecret: true)
    try TextFile.write(certificatePath, certificatePEM)
  }
}

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
    let page = answer.body
    return Array(try ActivationResponse.certificatePEM(in: page.span).utf8)
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
      WorkerThread.sleep(microseconds: 1_000_000 * Self.pause)
    }
  }
}
