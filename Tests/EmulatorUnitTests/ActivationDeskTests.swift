import CourierWire
import Credentials
import Platform
import PushModel
import Services
import TestSupport
import Testing
import Transport

import Emulator

@Suite("Activation")
struct ActivationDeskTests {
  private static let certs = Result { try RunFolder.make(now: SystemClock.wallTime) }

  private let loop: EventLoop
  private let desk: ActivationDesk

  init() throws {
    loop = try #require(EventLoop())
    desk = try #require(ActivationDesk(CertsFolder(path: Self.certs.get()), loop))
  }

  @Test("a device gets a certificate for its key, made beside the loop")
  func certificate() throws {
    let udid = try #require(UDID("phone-1"))
    let request = try DeviceRequest.make(udid: udid)
    let form = ActivationRequest.formBody(udid: udid, csrPEM: String(decoding: request.csrPEM, as: UTF8.self))
    var answer: HTTPResponse?
    let isTaken = desk.activate(form, from: "192.0.2.1") { answer = $0 }
    #expect(isTaken && answer == nil, "not before a turn of the loop")
    while answer == nil { loop.runTurn() }
    let response = try #require(answer)
    #expect(response.status == 200 && response.field("content-type") == "text/html")
    let page = response.body
    let pem = try ActivationResponse.certificatePEM(in: page.span)
    let identity = try DeviceIdentity(certificatePEM: Array(pem.utf8), keyPEM: request.keyPEM)
    #expect(identity.name == "phone-1")
  }

  @Test("a form that holds no request is answered with a page that says so")
  func unreadable() throws {
    var answer: HTTPResponse?
    let isTaken = desk.activate([1, 2, 3], from: "192.0.2.1") { answer = $0 }
    #expect(isTaken)
    while answer == nil { loop.runTurn() }
    let response = try #require(answer)
    let page = String(decoding: response.body, as: UTF8.self)
    #expect(response.status == 400 && page.contains("no field activation-info"))
  }

  @Test("one address has half of the room, all together the whole, and what is answered makes room")
  func bounded() {
    var answered = 0
    func fill(from address: String) -> Int {
      var taken = 0
      while desk.activate([], from: address, { _ in answered += 1 }) { taken += 1 }
      return taken
    }
    #expect(fill(from: "192.0.2.1") == ActivationDesk.limitOfAddress)
    #expect(fill(from: "192.0.2.2") == ActivationDesk.limit - ActivationDesk.limitOfAddress)
    #expect(fill(from: "192.0.2.3") == 0)
    while answered < ActivationDesk.limit { loop.runTurn() }
    #expect(fill(from: "192.0.2.1") == ActivationDesk.limitOfAddress)
  }
}
