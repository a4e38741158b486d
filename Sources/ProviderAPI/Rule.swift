import Basics
import PushModel

/// The rules that explanations name: what each is about, and which page of Apple's documentation states it.
enum Rule {
  static let broadcastPushType = Phrase(rule: "apns-push-type", .broadcasting)
  static let bundle = Phrase(rule: "bundle id", .handlingErrors)
  static let channelFlood = Phrase(rule: "broadcasts to one channel", .handlingErrors)
  static let channelID = Phrase(rule: "apns-channel-id", .managingChannels)
  static let channelConfiguration = Phrase(rule: "channel configuration", .managingChannels)
  static let unstoredExpiration = Phrase(rule: "apns-expiration of a channel without storage", .broadcasting)
  static let channelMethod = Phrase(rule: "method", .managingChannels)
  static let channelPath = Phrase(rule: "path", .managingChannels)
  static let channelCount = Phrase(rule: "channels of a bundle id", .managingChannels)
  static let payload = Phrase(rule: "payload", .sendingRequests)
  static let backgroundPriority = Phrase(rule: "apns-priority of a background push", .sendingRequests)
  static let priority = Phrase(rule: "apns-priority", .sendingRequests)
  static let pushType = Phrase(rule: "apns-push-type", .sendingRequests)
  static let collapseID = Phrase(rule: "apns-collapse-id", .sendingRequests)
  static let topic = Phrase(rule: "apns-topic", .sendingRequests)
  static let topicOfPushType = Phrase(rule: "topic of the push type", .sendingRequests)
  static let topicsOfProvider = Phrase(rule: "topics of the provider", .handlingResponses)
  static let expiration = Phrase(rule: "apns-expiration", .sendingRequests)
  static let method = Phrase(rule: "method", .sendingRequests)
  static let certificate = Phrase(rule: "certificate", .certificateConnection)
  static let certificateEnvironment = Phrase(rule: "certificate environment", .handlingResponses)
  static let authorization = Phrase(rule: "authorization", .tokenConnection)
  static let deviceToken = Phrase(rule: "device token", .handlingResponses)
  static let flood = Phrase(rule: "pushes to one device", .handlingResponses)
  static let repeatedFields = Phrase(rule: "repeated fields", .handlingResponses)
  static let path = Phrase(rule: "path", .sendingRequests)
  static let broadcastPath = Phrase(rule: "path", .broadcasting)

  /// A field that identifies a request.
  static func apnsID(_ field: ProviderField) -> Phrase { Phrase(rule: "\(field.name)", .sendingRequests) }
}

/// A broken rule.
struct Refusal: Error {
  var rejection: Rejection
  var explanation: Explanation
  var goneAt: Timestamp?

  init(_ rejection: Rejection, rule: Phrase, expected: Phrase, got: Phrase, goneAt: Timestamp? = nil) {
    self.init(rejection, Explanation(rule: rule, expected: expected, got: got), goneAt: goneAt)
  }

  init(_ rejection: Rejection, _ explanation: Explanation, goneAt: Timestamp? = nil) {
    (self.rejection, self.explanation, self.goneAt) = (rejection, explanation, goneAt)
  }
}

extension Refusal {
  /// The answer should no rule have read what the request needs. No order of rules lets that happen.
  static var unread: Refusal {
    Refusal(
      .internalServerError, rule: "order of checks", expected: "every part read", got: "a part left unread")
  }
}
