import Basics
import PropertyList

/// The page that answers an activation (`Documentation/device-protocol.md#activation`).
public enum ActivationResponse {
  /// The content type of the page.
  public static let contentType = "text/html"
  /// Largest page read, in bytes. A certificate takes some thousand.
  public static let maximumByteCount = 256 * 1024

  /// The page that hands a device its certificate. Everything between the `Protocol` marks is on one line: known clients
  /// look for it with an expression that ends at a line break.
  public static func page(certificatePEM: String) -> String {
    let record = PropertyList.dictionary([
      "DeviceCertificate": .data(Array(certificatePEM.utf8)), "unbrick": .boolean(true),
    ])
    let activation = PropertyList.dictionary([
      "device-activation": .dictionary(["activation-record": record, "show-settings": .boolean(false)])
    ])
    return page(body: "<Protocol>\(activation.document)</Protocol>")
  }

  /// The page that says why there is none.
  public static func page(failure: ActivationError) -> String {
    page(body: "<b>\(PropertyList.escaped(failure.description))</b>")
  }

  private static func page(body: String) -> String {
    "<!DOCTYPE html>\n<html><head><title>Device activation</title></head><body>\n\(body)\n</body></html>\n"
  }

  /// The certificate in a page, PEM.
  public static func certificatePEM(in page: Span<UInt8>) throws(ActivationError) -> String {
    guard page.count <= maximumByteCount else {
      throw ActivationError(.unreadableAnswer, "the answer of \(page.count) bytes is too long")
    }
    let page = [UInt8](page)
    guard let activation = between("<Protocol>", "</Protocol>", in: page) else {
      let reason = between("<b>", "</b>", in: page).map { String(decoding: $0, as: UTF8.self) }
      throw reason.map { ActivationError(.refused, $0) }
        ?? ActivationError(.unreadableAnswer, "the answer holds no activation record")
    }
    let record = PropertyList(document: Array(activation))?["device-activation"]?["activation-record"]
    guard let certificate = record?["DeviceCertificate"]?.text, !certificate.isEmpty else {
      throw ActivationError(.unreadableAnswer, "the activation record holds no certificate")
    }
    return certificate
  }

  private static func between(_ start: String, _ end: String, in page: [UInt8]) -> ArraySlice<UInt8>? {
    guard let first = page.firstRange(of: Array(start.utf8)),
      let last = page[first.upperBound...].firstRange(of: Array(end.utf8))
    else { return nil }
    return page[first.upperBound..<last.lowerBound]
  }
}
