import Advice
import Basics
import PushModel

/// What has to be so after a step: all that it names, of one event where it is about events.
package struct Expectation: Sendable {
  enum TokenChange: String, Sendable, CaseIterable { case same, changed, none }

  /// The phone and the app that it is about; the only ones if absent.
  var on: String?
  var topic: Topic?
  /// Within so many nanoseconds, which pass on the clock before it is looked at.
  var within: Int64?

  // Of the push.
  var status: Int?
  var reason: String?
  var legacyStatus: Int?
  var isClosed: Bool?

  // Of what happens on the phone.
  var event: String?
  var detail: String?
  var rule: String?
  var callback: String?
  var presented: [String]?
  var count: Int?
  /// No event of this name.
  var none: String?

  // How things are then.
  var badge: Int?
  /// How many notifications the list has.
  var listed: Int?
  var token: TokenChange?
  /// How many tokens the feedback service has to report.
  var feedback: Int?
  /// How many tokens the provider still has for it.
  var alias: String?
  var tokens: Int?
  /// Every finding about the providers so far, in any order.
  var advice: [AdviceRule]?
}

extension Expectation: JSONDocument {
  package static let form = JSONForm<Expectation>(
    [
      JSONField("on", .text, \.on), JSONField("topic", .topic, \.topic),
      JSONField("within", .duration, \.within),
      JSONField("status", .whole(100...599), \.status), JSONField("reason", .text, \.reason),
      JSONField("legacyStatus", .whole(0...255), \.legacyStatus), JSONField("closed", .flag, \.isClosed),
      JSONField("event", .text, \.event), JSONField("detail", .text, \.detail),
      JSONField("rule", .text, \.rule),
      JSONField("callback", .text, \.callback), JSONField("presented", .list(of: .text), \.presented),
      JSONField("count", .whole(0...100_000), \.count), JSONField("none", .text, \.none),
      JSONField("badge", .whole(0...Int64(Int32.max)), \.badge),
      JSONField("listed", .whole(0...100_000), \.listed),
      JSONField("token", .word, \.token), JSONField("feedback", .whole(0...100_000), \.feedback),
      JSONField("alias", .text, \.alias), JSONField("tokens", .whole(0...100_000), \.tokens),
      JSONField("advice", .list(of: .word, "ids of findings"), \.advice),
    ], rules: [("minProperties", 1)])
}
