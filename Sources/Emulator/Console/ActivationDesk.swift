import Basics
import CourierWire
import Credentials
import Platform
import Services
import Transport

/// Hands devices the certificates that they ask for (`Documentation/device-protocol.md#activation`), valid in wall-clock time, in
/// which the courier looks at them: devices know no other.
///
/// Whoever reaches the console may ask, and each answer costs two uses of a key, a millisecond: so it is made beside the loop, and as
/// many wait as are worth waiting for.
package final class ActivationDesk {
  /// Most activations at a time, the one at work included, as a count: they are done within a tenth of a second, and their forms have
  /// at most 128 KiB each.
  package static let limit = 64
  /// Most of those of one address, as a count: the rest is for others.
  package static let limitOfAddress = 32

  private typealias Page = (status: Int, text: String)

  private let ca: DeviceCA
  private let background: BackgroundWork
  /// How many of an address are under way; none is left out.
  private var underWay: [String: Int] = [:]

  /// nil if the system has no descriptors left, or no memory for a key.
  package init?(_ certs: CertsFolder, _ loop: EventLoop) {
    guard let background = BackgroundWork(loop, limit: Self.limit),
      let ca = try? DeviceCA(certs, now: SystemClock.wallTime)
    else { return nil }
    (self.background, self.ca) = (background, ca)
  }

  /// Answers a device late, on the loop. False, and nothing happens, if too many wait.
  package func activate(
    _ form: [UInt8], from address: String, _ reply: @escaping (HTTPResponse) -> Void
  ) -> Bool {
    guard underWay[address, default: 0] < Self.limitOfAddress else { return false }
    let (ca, now) = (ca, SystemClock.wallTime)
    let isTaken = background.run({ Self.page(form, ca, now) }) { [weak self] page in
      self?.left(address)
      reply(
        HTTPResponse(
          status: page.status, fields: [HTTPField("Content-Type", ActivationResponse.contentType)],
          body: Array(page.text.utf8)))
    }
    if isTaken { underWay[address, default: 0] += 1 }
    return isTaken
  }

  private func left(_ address: String) {
    let others = (underWay[address] ?? 0) - 1
    underWay[address] = others > 0 ? others : nil
  }

  private static func page(_ form: [UInt8], _ ca: DeviceCA, _ now: Timestamp) -> Page {
    do {
      let request = try ActivationRequest.parse(formBody: form.span)
      let certificate = try ca.sign(
        csrPEM: Array(request.csrPEM.utf8), udid: request.udid, now: now)
      return (200, ActivationResponse.page(certificatePEM: String(decoding: certificate, as: UTF8.self)))
    } catch let error as ActivationError {
      return (400, ActivationResponse.page(failure: error))
    } catch {
      return (400, ActivationResponse.page(failure: ActivationError(.refused, "\(error)")))
    }
  }
}
