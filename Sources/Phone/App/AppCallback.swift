/// Methods of an app that hear of a notification, M1 to M6 of `Documentation/device-behaviour.md#callbacks`.
package enum AppCallback: Int, Sendable, CaseIterable, Hashable {
  case receive = 1
  case receiveLocal, fetch, willPresent, response, openSettings

  /// As the documentation counts them.
  package var number: String { "M\(rawValue)" }

  /// Apple's name.
  package var selector: String {
    switch self {
    case .receive: "application:didReceiveRemoteNotification:"
    case .receiveLocal: "application:didReceiveLocalNotification:"
    case .fetch: "application:didReceiveRemoteNotification:fetchCompletionHandler:"
    case .willPresent: "userNotificationCenter:willPresentNotification:withCompletionHandler:"
    case .response: "userNotificationCenter:didReceiveNotificationResponse:withCompletionHandler:"
    case .openSettings: "userNotificationCenter:openSettingsForNotification:"
    }
  }

  /// The first version that calls it.
  package var since: IOSVersion {
    switch self {
    case .receive: IOSVersion(3)
    case .receiveLocal: IOSVersion(4)
    case .fetch: IOSVersion(7)
    case .willPresent, .response: IOSVersion(10)
    case .openSettings: IOSVersion(12)
    }
  }

  /// Reads `M3`, in either case.
  package init?(number text: String) {
    guard let callback = Self.allCases.first(where: { $0.number == text.uppercased() }) else { return nil }
    self = callback
  }
}

/// Other methods of an app, its extensions and its delegates that a push may reach.
package enum AppMethod: String, Sendable, Hashable {
  case didRegister = "application:didRegisterForRemoteNotificationsWithDeviceToken:"
  case didFailToRegister = "application:didFailToRegisterForRemoteNotificationsWithError:"
  case didRegisterSettings = "application:didRegisterUserNotificationSettings:"
  case handleAction = "application:handleActionWithIdentifier:forRemoteNotification:completionHandler:"
  case handleActionWithText =
    "application:handleActionWithIdentifier:forRemoteNotification:withResponseInfo:completionHandler:"
  case handleLocalAction = "application:handleActionWithIdentifier:forLocalNotification:completionHandler:"
  case incomingVoIPPush =
    "pushRegistry:didReceiveIncomingVoIPPushWithPayload:metadata:withCompletionHandler:"
  case incomingPush = "pushRegistry:didReceiveIncomingPushWithPayload:forType:withCompletionHandler:"
  case incomingPushBefore11 = "pushRegistry:didReceiveIncomingPushWithPayload:forType:"
  case incomingSpeech = "incomingPushResultForChannelManager:channelUUID:pushPayload:"
  case locationPush = "didReceiveLocationPushPayload:completion:"
  case contentReceived = "didReceiveNotification:"
  case contentResponse = "didReceiveNotificationResponse:completionHandler:"
}

/// What `willPresent` may answer with. Before iOS 14 `alert` says what `banner` and `list` say since.
package struct PresentationOptions: OptionSet, Sendable, Hashable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let banner = Self(rawValue: 1)
  package static let list = Self(rawValue: 2)
  package static let sound = Self(rawValue: 4)
  package static let badge = Self(rawValue: 8)
  package static let alert: Self = [.banner, .list]
  package static let all: Self = [.alert, .sound, .badge]

  /// Each option by its word, with what it is before iOS 14.
  static let words: [(String, PresentationOptions)] = [
    ("banner", .banner), ("list", .list), ("sound", .sound), ("badge", .badge), ("alert", .alert),
  ]
}
