import Basics
import ProviderAPI
import PushModel
import Testing

@Suite("Answers")
struct AnswerTests {
  /// `Documentation/provider-api.md#response`.
  @Test("say the reason in Apple's bytes")
  func body() {
    let body = ErrorBody.bytes(.badDeviceToken)
    #expect(body == Array(#"{"reason":"BadDeviceToken"}"#.utf8))
    #expect(body.count == 27)
    #expect(ErrorBody.bytes(.badCertificateEnvironment).count == 38)
    for rejection in Rejection.allCases {
      #expect(
        String(decoding: ErrorBody.bytes(rejection), as: UTF8.self) == "{\"reason\":\"\(rejection.reason)\"}")
    }
  }

  /// `Documentation/provider-api.md#response`.
  @Test("carry the time in milliseconds with 410 only")
  func timestamp() throws {
    let body = ErrorBody.bytes(.unregistered, goneAt: Timestamp(seconds: 1_700_000_000))
    #expect(body == Array(#"{"reason":"Unregistered","timestamp":1700000000000}"#.utf8))
    #expect(body.count == 51)
    #expect(ErrorBody.bytes(.badTopic, goneAt: Timestamp(seconds: 1)) == ErrorBody.bytes(.badTopic))
    let message = Sample.message([(":path", "/3/device/\(Sample.gone)")])
    let rejected = try #require(Sample.check().judge(message, now: Sample.now).rejected)
    #expect(rejected.body == body)
  }

  @Test("echo the request's id as sent, also with a rejection")
  func echo() {
    for id in [Sample.id, "ABCDEFAB-CDEF-ABCD-EFAB-CDEFABCDEFAB", "abcdefab-cdef-ABCD-efab-cdefabcdefab"] {
      let check = Sample.check()
      let accepted = check.judge(Sample.message([("apns-id", id)]), now: Sample.now).accepted
      #expect(accepted?.apnsID.description == id)
      for change in [(":method", "GET"), (":path", "/x"), ("authorization", "x"), ("apns-priority", "7")] {
        let rejected = check.judge(Sample.message([("apns-id", id), change]), now: Sample.now).rejected
        #expect(rejected?.apnsID.description == id)
      }
    }
  }

  /// `Documentation/provider-api.md#response`.
  @Test("carry an id made here, upper case, where the request has none or a bad one")
  func made() throws {
    let (first, second) = (Sample.check(), Sample.check())
    var ids: Set<String> = []
    for change in [nil, "xyz"] {
      let message = Sample.message([("apns-id", change)])
      let verdicts = [first, second].map { $0.judge(message, now: Sample.now) }
      let made = verdicts.map { $0.accepted?.apnsID ?? $0.rejected?.apnsID }
      let id = try #require(made[0]).description
      #expect(id == made[1]?.description, "the same seed makes the same ids")
      #expect(id == id.uppercased() && id.utf8.count == 36)
      ids.insert(id)
    }
    #expect(ids.count == 2)
  }

  @Test("explain with the peer's value, clipped and without control characters")
  func explanation() throws {
    let long = String(repeating: "x", count: 500)
    let rejected = try #require(
      Sample.check().judge(Sample.message([("apns-push-type", "a\u{1}\(long)")]), now: Sample.now).rejected)
    #expect(rejected.explanation.got.hasPrefix("\"a?xxx"))
    #expect(rejected.explanation.got.utf8.count < 100)
    #expect(rejected.explanation.text.contains("expected one of alert, background"))
  }

  @Test("can be refusals that are not the request's fault")
  func refuse() {
    let rejected = Sample.check().refuse(Sample.message(), .shutdown, got: "a server that is going down")
    #expect(rejected.rejection.status == 503)
    #expect(rejected.apnsID.description == Sample.id)
  }
}
