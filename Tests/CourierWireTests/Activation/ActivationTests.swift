import Basics
import CourierWire
import PushModel
import Testing

@Suite("Activation")
struct ActivationTests {
  private let csr = "-----BEGIN CERTIFICATE REQUEST-----\nMIIB+/==\n-----END CERTIFICATE REQUEST-----\n"
  private let certificate = "-----BEGIN CERTIFICATE-----\nMIIC+/==\n-----END CERTIFICATE-----\n"

  private func parse(_ form: some Collection<UInt8>) throws -> ActivationRequest {
    let form = Array(form)
    return try ActivationRequest.parse(formBody: form.span)
  }

  private func certificatePEM(_ page: String) throws -> String {
    let page = Array(page.utf8)
    return try ActivationResponse.certificatePEM(in: page.span)
  }

  @Test("the form of a device gives its name and certificate request")
  func request() throws {
    let udid = try #require(UDID("00008030-001A35E11E88003A"))
    let form = ActivationRequest.formBody(udid: udid, csrPEM: csr)
    #expect(form.starts(with: "activation-info=%3C%3Fxml".utf8))
    let request = try parse(form)
    #expect(request.udid == udid)
    #expect(request.csrPEM == csr)
    let fields = try #require(PercentEncoding.text(String(decoding: form, as: UTF8.self))).split(
      separator: "<data>")
    let told = fields.compactMap { Base64.decode(Array($0.prefix { $0 != "<" }.utf8)) }
      .map { String(decoding: $0, as: UTF8.self) }
    #expect(told.contains { $0.contains("<key>DeviceClass</key><string>iPhone</string>") })
  }

  @Test("other fields of the form do not matter, nor a plus sign for a blank")
  func otherFields() throws {
    let udid = try #require(UDID("a"))
    let form = ActivationRequest.formBody(udid: udid, csrPEM: csr)
    let text = String(decoding: form, as: UTF8.self).replacing("%20", with: "+")
    #expect(try parse("machineName=x&\(text)&activation-info=second".utf8).csrPEM == csr)
  }

  @Test(
    "a form that cannot be read is refused",
    arguments: [
      "", "activation-info", "activation-info=", "activation-info=%3", "activation-info=%zz",
      "other=%3Cplist%3E%3Cdict/%3E%3C/plist%3E", "activation-info=<plist><dict/></plist>",
      "activation-info=<dict><key>ActivationInfoXML</key><data>AAAA</data></dict>",
    ])
  func unreadable(form: String) {
    #expect(throws: ActivationError(.unreadableRequest, "")) { try parse(form.utf8) }
  }

  @Test("a request without name or certificate request is refused")
  func incomplete() throws {
    for inner in ["<dict><key>UniqueDeviceID</key><string>a</string></dict>", "<dict/>"] {
      let data = Base64.encode(Array(inner.utf8)).replacing("+", with: "%2B")
      let form = "activation-info=<dict><key>ActivationInfoXML</key><data>\(data)</data></dict>"
      #expect(throws: ActivationError(.incompleteRequest, "")) { try parse(form.utf8) }
    }
  }

  @Test("a form may have 128 KiB; a longer one is refused unread")
  func tooLong() throws {
    var form = ActivationRequest.formBody(udid: try #require(UDID("a")), csrPEM: csr) + Array("&other=".utf8)
    form += [UInt8](repeating: 0x41, count: 131_072 - form.count)
    #expect(try parse(form).csrPEM == csr)
    #expect(throws: ActivationError(.unreadableRequest, "")) { try parse(form + [0x41]) }
  }

  @Test("the page gives the certificate, on one line between its marks")
  func response() throws {
    let page = ActivationResponse.page(certificatePEM: certificate)
    #expect(try certificatePEM(page) == certificate)
    let line = page.split(separator: "\n").first { $0.contains("<Protocol>") }
    #expect(line?.hasSuffix("</Protocol>") == true)
  }

  @Test("a page may have 256 KiB; a longer one is not read")
  func longPage() throws {
    let page = ActivationResponse.page(certificatePEM: certificate)
    let longest = page + String(repeating: "\n", count: 262_144 - page.utf8.count)
    #expect(try certificatePEM(longest) == certificate)
    #expect(throws: ActivationError(.unreadableAnswer, "")) { try certificatePEM(longest + "\n") }
  }

  @Test("a failure shows its reason in bold, and the device reads it there")
  func failure() {
    let page = ActivationResponse.page(failure: ActivationError(.incompleteRequest, "a < b & no CSR"))
    #expect(page.contains("<b>a &lt; b &amp; no CSR</b>"))
    #expect(throws: ActivationError(.refused, "")) { try certificatePEM(page) }
    #expect(throws: ActivationError(.unreadableAnswer, "")) { try certificatePEM("<html>") }
    #expect(throws: ActivationError(.unreadableAnswer, "")) { try certificatePEM("<Protocol></Protocol>") }
  }
}
