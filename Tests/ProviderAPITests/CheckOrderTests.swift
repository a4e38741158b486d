import ProviderAPI
import PushModel
import Testing

@Suite("Order of checks")
struct CheckOrderTests {
  /// One fault for each step of `Documentation/provider-api.md#order-of-checks`, in that order, each independent of the
  /// others. A request with several must get the answer to the first.
  private struct Fault {
    var changes: [(String, String?)] = []
    var extra: [(String, String)] = []
    var body: [UInt8]?
    var rejection: Rejection
  }

  private static let faults = [
    Fault(changes: [(":method", "GET")], rejection: .methodNotAllowed),
    Fault(changes: [(":path", "/3/devices/")], rejection: .badPath),
    Fault(extra: [("apns-new", "1"), ("apns-new", "2")], rejection: .duplicateHeaders),
    Fault(changes: [("apns-id", "xyz")], rejection: .badMessageId),
    Fault(changes: [("authorization", "bearer bad")], rejection: .invalidProviderToken),
    Fault(changes: [("apns-push-type", "foo")], rejection: .invalidPushType),
    Fault(changes: [("apns-priority", "7")], rejection: .badPriority),
    Fault(changes: [("apns-expiration", "soon")], rejection: .badExpirationDate),
    Fault(changes: [("apns-collapse-id", String(repeating: "c", count: 65))], rejection: .badCollapseId),
    Fault(changes: [("apns-topic", nil)], rejection: .missingTopic),
    Fault(changes: [(":path", "/3/device/zz")], rejection: .badDeviceToken),
    Fault(body: [], rejection: .payloadEmpty),
  ]

  /// `Documentation/provider-api.md#order-of-checks`.
  @Test("answers the earlier of any two faults")
  func pairs() {
    for (index, first) in Self.faults.enumerated() {
      for second in Self.faults[(index + 1)...] {
        let message = Sample.message(
          second.changes + first.changes, extra: first.extra + second.extra,
          body: first.body ?? second.body ?? Sample.payload)
        let verdict = Sample.check().judge(message, now: Sample.now)
        #expect(verdict.rejected?.rejection == first.rejection, "\(first.rejection) and \(second.rejection)")
      }
    }
  }

  @Test("answers a missing provider token before anything about the device token")
  func authenticationFirst() {
    for path in ["/3/device/", "/3/device/zz", "/3/device/\(Sample.gone)"] {
      let message = Sample.message([(":path", path), ("authorization", nil)])
      #expect(Sample.check().judge(message, now: Sample.now).rejected?.rejection == .missingProviderToken)
    }
  }

  @Test("answers a disallowed topic before an unknown token, and an unregistered token before an empty body")
  func laterSteps() {
    let check = Sample.check(Sample.certificate())
    let disallowed = Sample.message([("apns-topic", "com.other"), (":path", "/3/device/\(Sample.unknown)")])
    #expect(check.judge(disallowed, now: Sample.now).rejected?.rejection == .topicDisallowed)
    let unregistered = Sample.message([(":path", "/3/device/\(Sample.gone)")], body: [])
    #expect(check.judge(unregistered, now: Sample.now).rejected?.rejection == .unregistered)
  }
}
