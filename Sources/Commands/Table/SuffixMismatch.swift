import PushModel

/// Words for `ProviderCheckOptions.suffixMismatch`.
enum SuffixMismatch: String, CaseIterable, Sendable {
  case off
  case deviceTokenNotForTopic = "DeviceTokenNotForTopic"
  case invalidPushType = "InvalidPushType"

  var rejection: Rejection? { Rejection(reason: rawValue) }
}
