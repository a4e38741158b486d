import Basics
import ProviderAPI
import PushModel
import Testing

@Suite("Any request")
struct AnyRequestTests {
  private static let names = ProviderField.allCases.map(\.name.description) + ["cookie", "apns-new", "te"]
  private static let values = [
    "", "0", "1", "5", "10", "alert", "voip", "background", "POST", "GET", "/3/device/",
    "/3/device/\(Sample.token)",
    "/4/broadcasts/apps/com.example.app", "/1/apps/com.example.app/channels", "com.example.app",
    "bearer good",
    "bearer bad", "bearer", Sample.id, "AAAA", "\u{0}\u{ff}", "=", String(repeating: "9", count: 70),
  ]

  private static func request(_ random: inout SeededChoices) -> HTTPMessage {
    var message = HTTPMessage()
    // Half of the requests begin as good ones, so that late rules are reached as well.
    if Bool.random(using: &random) {
      for field in Sample.fields where Int.random(in: 0..<8, using: &random) > 0 {
        message.append(name: field.0, value: field.1)
      }
    }
    for _ in 0..<Int.random(in: 0..<6, using: &random) {
      let name = names.randomElement(using: &random) ?? ""
      message.append(name: name, value: values.randomElement(using: &random) ?? "")
    }
    message.appendBody(
      [UInt8](repeating: 0x7b, count: [0, 1, 4096, 4097, 6000].randomElement(using: &random) ?? 0).span)
    return message
  }

  @Test("gets exactly one verdict, with an id and a status that the table knows", arguments: UInt64(0)..<20)
  func oneVerdict(_ seed: UInt64) {
    var random = SeededChoices(seed: seed)
    let directory = Sample.directory()
    let checks = [
      Sample.check(directory: directory), Sample.check(Sample.certificate(), directory: directory),
    ]
    var rejections: Set<Rejection> = []
    for _ in 0..<2000 {
      let message = Self.request(&random)
      for check in checks {
        let before = directory.standingCalls
        switch check.judge(message, now: Sample.now) {
        case .accepted: #expect(message.body.count == message.bodyByteCount && !message.body.isEmpty)
        case .rejected(let rejected):
          #expect([400, 403, 404, 405, 410, 413, 429].contains(rejected.rejection.status))
          #expect(!rejected.body.isEmpty)
          rejections.insert(rejected.rejection)
        }
        #expect(directory.standingCalls - before <= 1)
      }
    }
    #expect(rejections.count > 8)
    #expect(!rejections.contains(.internalServerError))
  }

  @Test("gets exactly one answer from channel management and broadcast", arguments: UInt64(0)..<5)
  func channels(_ seed: UInt64) {
    var random = SeededChoices(seed: seed)
    let channels = FakeChannels()
    let handler = channels.handler()
    let check = channels.broadcastCheck()
    for _ in 0..<2000 {
      let message = Self.request(&random)
      let answer = handler.answer(message, now: Sample.now)
      #expect((answer.rejected == nil) == (200..<300).contains(answer.status))
      #expect(answer.rejected?.rejection != .internalServerError)
      if case .rejected(let rejected) = check.judge(message, now: Sample.now) {
        #expect(rejected.rejection != .internalServerError)
      }
    }
  }
}
