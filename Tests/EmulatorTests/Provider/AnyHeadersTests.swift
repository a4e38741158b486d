import Basics
import PushModel
import Testing

import Emulator
import Transport

extension LiveTests {
  /// Whatever header fields a request has: one answer, never none, never two, and the next one is served.
  @Suite("Any header fields")
  struct AnyHeadersTests {
    private static let names =
      ProviderField.allCases.map(\.name.description).filter { !$0.hasPrefix(":") } + [
        "cookie", "te", "content-length", "content-type", "apns-new", "x-other", "host", "expect",
      ]
    private static let values = [
      "", " ", "0", "1", "5", "10", "22", "23", "trailers", "alert", "voip", "background", "liveactivity",
      "com.example.app", "com.example.app.voip", "bearer x.y.z", "bearer", "basic YTpi", "AAAA", "=", "nope",
      "11111111-2222-4333-8444-555555555555", "9999999999999999999999", String(repeating: "c", count: 65),
    ]
    private static let methods = ["POST", "POST", "POST", "GET", "PUT", "DELETE"]
    private static let sizes = [0, 1, 22, 4096, 4097, 5121]

    private static func request(_ token: String, _ random: inout SeededChoices) -> ProviderRequest {
      var request = ProviderRequest.push(token)
      // Half begin as good ones, so that late rules are reached as well.
      if Bool.random(using: &random) { request.fields = [] }
      request.method = methods.randomElement(using: &random) ?? "POST"
      let paths = [
        request.path, request.path, "/3/device/", "/3/device/zz", "/4/broadcasts/apps/com.example.app",
        "/1/apps/com.example.app/channels", "/1/apps/com.example.app/all-channels", "/", "/%00?#",
      ]
      request.path = paths.randomElement(using: &random) ?? "/"
      for _ in 0..<Int.random(in: 0..<6, using: &random) {
        let name = names.randomElement(using: &random) ?? ""
        request.fields.append((name, values.randomElement(using: &random) ?? ""))
      }
      request.body = [UInt8](repeating: 0x7b, count: sizes.randomElement(using: &random) ?? 0)
      return request
    }

    @Test("bring exactly one answer each", arguments: ["provider", "gateway"], [1, 2, 3] as [UInt64])
    func oneAnswer(listener: String, seed: UInt64) throws {
      let harness = try EmulatorHarness()
      let token = try harness.offlineToken()
      var random = SeededChoices(seed: seed)
      for certificate in [nil, try ClientCertificate.app()] {
        var client = try HTTP2Client(harness, listener: listener, certificate)
        client.open()
        for number in 0..<200 {
          var request = Self.request(token.hex, &random)
          if certificate == nil, Bool.random(using: &random) {
            request["authorization"] = try harness.bearer()
          }
          // The client's own checks forbid some of these; what it does not send needs no answer.
          let sent = client.send(request)
          harness.turn(until: "request \(number) of seed \(seed) is over: \(request)") {
            client.answers[sent] != nil || client.resets[sent] != nil || client.recorder.hasEnded
          }
          let answer = client.answers[sent]
          // A length that is not the body's is an error of the protocol itself (RFC 9113 8.1.1), not a bad request.
          #expect(answer != nil || client.resets[sent] == .protocolError, "\(request)")
          #expect((200..<504).contains(answer?.status ?? 400))
          if client.recorder.hasEnded {
            client = try HTTP2Client(harness, listener: listener, certificate)
            client.open()
          }
        }
      }
      let good = try HTTP2Client(harness, .app())
      #expect(try good.answer(.push(token.hex)).status == 200)
    }
  }
}
