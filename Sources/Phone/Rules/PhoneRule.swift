/// How a rule is known.
package enum Evidence: String, Sendable, CaseIterable {
  /// Apple's documentation.
  case documented = "A"
  /// Measured and published by app developers.
  case measured = "M"
  /// Nobody knows; it is our choice.
  case ours = "O"

  /// For people.
  package var sentence: String {
    switch self {
    case .documented: "Apple's documentation"
    case .measured: "measured and published by app developers"
    case .ours: "undocumented; the emulator's own choice"
    }
  }
}

/// The rules by which iOS treats a push (`Documentation/device-behaviour.md`): each under one name that events, `explain`,
/// documentation and tests share, with how it is known and what it says.
package enum PhoneRule: RuleText, RuleNamed {
  // Registration and permission (`Documentation/device-behaviour.md#registration-and-permission`).
  case notInstalled = "A: the app is not on the phone"
  case notAsked = "A: the app was never allowed to show notifications: it has a token, but no permission"
  case registered = "A, M: a token comes whether or not notifications are allowed, since iOS 8"
  case registrationAsks = "A, O: before iOS 8 registering asks the user; denied, neither method is called"
  case registrationWaits =
    "A, M: without a connection to the courier the app waits: neither method is called, says the archive; Apple's current page says that registering may fail"
  case noEntitlement = "M: without the push entitlement registering fails with error 3000"
  case otherEnvironment =
    "A, O: aps-environment decides where the token is good: development in the sandbox, production in production; the phone has no connection there, and the app waits (our choice)"
  case simulator = "M: a simulator before Xcode 14 has no token: registering fails with error 3010"
  case tokenChanged =
    "A, M: the token is another one after a reinstall, an erase or a restore onto another phone"
  case restoredUnlaunched = "A: a restored app gets its token when it is first launched"
  case promptOnce = "A: the user is asked once for each install"
  case promptAgain = "A: the user has been asked already: the stored answer comes back"
  case promptAnswered = "A: the user has answered the question"
  case provisionalAsksNobody = "A: provisional permission shows no prompt, and delivers quietly"
  case trialKept =
    "A, M: the user keeps the provisional notifications: prominently, as the app had asked (iOS 12 to 14), or in the list alone, which since iOS 15 Deliver Immediately means too"
  case trialEnded = "A: the user has turned off the provisional notifications: notifications are denied"
  case settingsChanged = "A: the user may change in Settings at any time what an app may do"
  case settingsButton = "A: the button for the app's own settings calls openSettings"
  case settingsButtonMissing =
    "A: there is a button for the app's own settings only with providesAppNotificationSettings, since iOS 12"
  case settingsNobody = "A: the app does not implement openSettings"

  // Who hears of it (`Documentation/device-behaviour.md#callbacks`).
  case foregroundAsks =
    "A, M: in the foreground the app decides: willPresent is called, and its options say what shows"
  case foregroundLate =
    "A, O: willPresent's handler was not called in time (30 s are our choice): not presented, and no other method is called"
  case foregroundHidden =
    "M: in the foreground without willPresent nothing shows, no sound plays, no badge changes"
  case foregroundFetch = "M: in the foreground without willPresent the push goes to didReceive…fetch"
  case foregroundReceive =
    "A: in the foreground without willPresent and …fetch it goes to didReceiveRemoteNotification"
  case foregroundNobody = "O: in the foreground the app implements nothing that could take it"
  case foregroundBoth =
    "O: with content-available a foreground app gets willPresent and …fetch; sources differ"
  case systemShows = "A: an app that is not in the foreground: the system shows it"
  case systemCallsNobody = "A, M: what the system shows calls no method of the app until the user taps it"
  case alertWakes = "A, M: an alert with content-available also wakes the app"
  case alertForceQuit = "A: after a force-quit an alert shows, but does not wake the app"
  case tapOpens = "A: a tap brings the app to the foreground, launching it if need be"
  case tapResponse = "A, M: a tap goes to didReceive(response)"
  case tapFetch = "M: a tap without didReceive(response) goes to didReceive…fetch"
  case tapFetchAgain =
    "M: with content-available …fetch ran on arrival, and without didReceive(response) runs again on the tap"
  case tapReceive = "A: a tap without didReceive(response) and …fetch goes to didReceiveRemoteNotification"
  case tapLaunchWithoutReceive =
    "A: didReceiveRemoteNotification is never called during a launch: the payload is in the launch options only"
  case tapNobody = "O: the app implements nothing that could take the tap"
  case delegateTooLate =
    "O: the delegate was set after didFinishLaunching: didReceive(response) of the tap that launched the app is lost"
  case iconCallsNobody =
    "A: opening the app by its icon calls no method; delivered notifications stay in the list"
  case actionResponse =
    "A: a chosen action goes to didReceive(response) with its identifier, text input with userText"
  case actionForeground = "A: a foreground action also opens the app"
  case actionUnlocks = "A: an action that requires authentication has the phone unlocked first"
  case actionOld = "A: iOS 8 and 9 have methods of their own for a chosen action"
  case actionNobody = "O: the app implements nothing that could take the action"
  case dismissResponse = "A: with customDismissAction a dismissal goes to didReceive(response)"
  case flicked = "A: a banner that is flicked away is not dismissed: it stays in the list"

  // A silent push (`Documentation/device-behaviour.md#silent-push`).
  case nothingInIt =
    "O: aps has no alert, badge, sound or content-available: only a foreground app gets it"
  case silentFetch = "A: a silent push calls didReceive…fetch, waking or launching the app"
  case silentReceive =
    "O: a silent push without …fetch goes to didReceiveRemoteNotification in the foreground"
  case silentNobody = "A: a silent push needs didReceive…fetch"
  case silentMode = "A: a silent push needs the background mode remote-notification"
  case silentForceQuit = "A: the user has force-quit the app: it is not woken until it is opened once"
  case silentType =
    "M: since iOS 13 a silent push of another push type than background reaches an app in the foreground only"
  case silentPriority =
    "A: a silent push has priority 5: with 10 it is an error, and since iOS 13 it wakes no app"
  case silentUntyped =
    "O: without a push type the payload says that it is silent, and without a priority either it counts as one of 5"
  case silentBudget =
    "A, O: two or three silent pushes an hour: three at once and one more every 20 minutes are our choice, half of it after 14 days unused"
  case silentDay =
    "A, O: the system has a budget for a day too: 48 wake-ups of an app (our choice); after them the newest silent push is held until the next day, in UTC"
  case silentUnlimited = "M: Xcode runs the app: silent pushes have no budget"
  case silentHeld = "O: the budget is used up: the newest silent push is held until the app has budget again"
  case silentMerged = "A: of held silent pushes only the newest is kept"
  case silentReleased = "A, O: a held silent push is delivered when the app is opened or has budget again"
  case silentDiscarded = "A: a held silent push is discarded when anything ends the app"
  case refreshOff =
    "A, O: Background App Refresh is off, for the phone or the app: a silent push does not wake the app (and is dropped: our choice)"
  case refreshLowPower =
    "A, O: Low Power Mode switches Background App Refresh off: a silent push is held until it ends (our choice) or the app is opened"
  case neverLaunched = "O: the app has never been opened: a silent push does not launch it"
  case fetchOvertime =
    "A, O: the completion handler was not called within 30 s: the app is terminated, and its budget is one less"
  case restarted =
    "A, O: after a restart of the phone (once it is unlocked: our choice) a force-quit app may be woken again"

  // What is to be seen and heard (`Documentation/device-behaviour.md#presentation`).
  case denied = "A: notifications are not allowed: nothing shows, no sound, no badge, no service extension"
  case provisional =
    "A: provisional permission: delivered quietly, to the list only, without a sound and without a badge"
  case passive = "A: interruption level passive: to the list, the screen stays off"
  case focus = "O: a Focus is on and does not allow the app: to the list, silently"
  case throughFocus = "A: time-sensitive and critical notifications come through a Focus"
  case badge = "A: badge sets the icon's number, 0 removes it, and without one it stays"
  case badgeOff = "A: badges are switched off for the app"
  case sound = "A: sound plays a file of the app, or the default where that is missing"
  case soundOff = "A: sounds are switched off for the app"
  case criticalSound = "A: a critical sound ignores mute and Focus; it needs its entitlement"
  case collapse = "A: a later notification with the same collapse id replaces the one that is shown"
  case removed = "A: the user has removed it from the list"
  case grouped = "A: since iOS 12 notifications with the same thread-id are one group in the list"
  case focusFilter = "A: a filter of the Focus decides by filter-criteria whether it displays"
  case soundMissing = "A: the sound is not in the app, or longer than 30 s: the default sound plays"
  case alertOff = "A: alerts, or all places for them, are switched off for the app"
  case muted = "A: the phone is muted: only critical sounds play"
  case summaryWaits =
    "A, O: the app is in the scheduled summary: notifications that are neither time-sensitive nor critical wait for it, without a sound (the badge counts at once: our choice)"
  case summaryShows =
    "A, O: the summary comes at its time, the highest relevance-score first (of the same score the newest: our choice)"
  case throughSummary = "A: time-sensitive and critical notifications do not wait for the summary"

  // The service extension (`Documentation/device-behaviour.md#service-extension`).
  case extensionRuns =
    "A, O: mutable-content with a text (of a dictionary; a plain string counts too), and alerts allowed: the service extension runs first, 30 s at most"
  case extensionDenied = "A: alerts are not allowed: the service extension does not run"
  case extensionNoText =
    "A: mutable-content without title, subtitle or body: the service extension does not run"
  case extensionChanged = "A: the service extension has handed over the content that shows"
  case extensionTimeOut = "A: 30 s are over and nothing was handed over: the original content shows"
  case extensionHandsOver =
    "A: 30 s are over: the content that serviceExtensionTimeWillExpire handed over shows"
  case extensionCrashed =
    "O: the service extension crashed, in a process of its own: the original content shows"
  case extensionSuppresses =
    "A: with the filtering entitlement the service extension may suppress a notification"
  case extensionMayNotSuppress =
    "O: without the filtering entitlement a notification can't be suppressed: the original content shows"
  case extensionRemovedText = "A: the service extension left no text: the original content shows"
  case attachmentDropped =
    "A, O: an attachment of a wrong type, or too large, is dropped; the notification shows without it"
  case downloaded =
    "A, O: the service extension has fetched a file from an address in the payload, and attaches it (size and time come from the settings: no network is used)"
  case downloadMissing =
    "O: the payload has no address where the service extension looks: nothing is attached"
  case downloadFailed = "O: the service extension could not fetch the file: nothing is attached"

  // The content extension (`Documentation/device-behaviour.md#content-extension-and-actions`).
  case contentShown =
    "A: the category is one of the content extension's: it starts when the notification is expanded"
  case contentAgain = "A: an open content extension gets further notifications of its category and thread"
  case contentWaits =
    "A: the content extension took the action: the notification stays until it has called the completion handler"
  case contentKeeps = "A: the content extension took the action and keeps the notification (doNotDismiss)"
  case contentDismisses =
    "A: the content extension took the action; the notification goes, and the app is not launched (dismiss)"
  case contentStays =
    "M: after a foreground action the notification stays although the content extension dismissed it"
  case contentForwards =
    "A: the content extension took the action, and the app gets it as well (dismissAndForwardAction)"
  case previewsHidden =
    "A, O: previews are off, or the phone is locked: a placeholder shows instead (of attachments nothing, and in banner and list alike: our choice), with title and subtitle where the category says so, since iOS 11"

  // In a car, by headphones (`Documentation/device-behaviour.md#content-extension-and-actions`).
  case carPlayCategory = "A: in a car a notification shows only if its category says allowInCarPlay"
  case carPlayPermission =
    "A: in a car a notification shows only if the app has asked for carPlay, and is allowed it"
  case announced =
    "A, O: with headphones Siri reads an alert out; since iOS 15 neither category nor option needs to say so (our choice)"
  case announcementCategory =
    "A: on iOS 13 and 14 Siri reads out only notifications whose category has allowAnnouncement"
  case announcementPermission =
    "A, O: on iOS 13 and 14 the app has to ask for announcement; the user may switch it off (also later: our choice)"
  case announcementInUse = "O: the phone is unlocked, so the user can read it: Siri says nothing"

  // Local notifications (`Documentation/device-behaviour.md#local-notifications`).
  case localScheduled = "A: the app has asked for a local notification; it needs no network"
  case localReplaced = "A: a local notification with the same identifier replaces the earlier one"
  case localDropped = "M: not allowed, or its date has passed: no error, and it is dropped"
  case localLimit = "M: only 64 may wait: the last added are kept"
  case localLimitOld = "A: only 64 may wait: the soonest are kept"
  case localTooOften = "A: a repeating interval under 60 s raises an exception"
  case localRemoved = "A: the app has cancelled the local notification"
  case localDelivered = "A: a local notification is due; the service extension does not run"
  case localReceive =
    "A, O: a local notification that the notification centre's delegate does not take goes to didReceiveLocalNotification"
  case localLaunch =
    "A, M: before iOS 10 the tap that launches the app leaves a local notification in the launch options only"
  case localAttachment = "A: an attachment of a wrong type, or too large: the request is not scheduled"
  case localByUnit =
    "A, O: before iOS 10 repeatInterval is a calendar unit: of an interval, the next longer of minute, hour, day and week (our choice)"

  // Push types with an API of their own (`Documentation/device-behaviour.md#tokens-and-push-types`).
  case tooOld = "A: this version of iOS does not support it: there is no token for it, and nothing happens"
  case voip =
    "A: wakes or launches the app for PushKit; one built with the iOS 13 SDK or later must report a call, or is terminated"
  case complication = "A: goes to the watch, while the complication is on the active face; 50 a day"
  case fileProvider = "A: the file provider extension signals a change"
  case location = "A: runs the Location Push Service Extension; needs Always permission and its entitlement"
  case pushToTalk = "A: the channel manager's delegate must promptly say who speaks, or leave"
  case liveActivity = "A: starts, updates or ends a Live Activity as its event says"
  case management = "A: the device checks in with its MDM server; no app, nothing to see"
  case controls = "A: the control loads its content again, within its budget"
  case widgets = "A: the widget loads its content again, within its budget"
  case voipMetadata =
    "A, O: since iOS 26.4 VoIP pushes have a method of their own, whose metadata tell by mustReport whether a call must be reported (when it is false Apple does not say: the app's setting decides)"
  case voipReported = "A: the app reported the call to CallKit"
  case voipNotReported = "A: the app did not report the call before its handler ended: it is terminated"
  case voipNeedNotReport = "A: mustReport is false: no call was reported, and the app goes on"
  case voipBarred =
    "A, O: the app has failed to report calls (3 times are our choice): VoIP pushes no longer launch it"
  case callAnswered = "A: the user has answered or declined the call"
  case complicationAway = "A: the complication is not on the active watch face"
  case complicationSpent = "A: 50 complication pushes a day: more are not delivered"
  case locationDenied = "A: the location extension needs Always permission and its entitlement"
  case pushToTalkIdle = "A: the app has not joined a channel: its push-to-talk token is not active"
  case activityStarted = "A: a start push with attributes-type starts a Live Activity, since iOS 17.2"
  case activityNoStart =
    "A: a start push needs iOS 17.2, a push-to-start token, attributes-type, attributes, content-state and alert"
  case activityToken =
    "A: a running Live Activity has an update token of its own (started by a push, since iOS 18: with input-push-token 1)"
  case activityChannel = "A: a start push with input-push-channel joins that channel, since iOS 18"
  case activityUpdated = "A: an update changes the content of the running Live Activity"
  case activityEnded =
    "A: an end push ends the Live Activity; it stays for up to 4 hours, or to its dismissal-date"
  case activityOld = "O: the timestamp is older than that of the last one: ignored"
  case activityUnknown = "O: no running Live Activity of the app fits this push"
  case activityStale = "A: stale-date has passed: the Live Activity is marked as stale"
  case activityByApp = "A: the app has started a Live Activity itself, since iOS 16.1"
  case activityDismissed =
    "A: dismissal-date has passed, or 4 hours after the end: the Live Activity disappears"
  case activityStartToken =
    "A: for each type of attributes an app has a push-to-start token, since iOS 17.2"
  case notChanged = "O: a push for controls or widgets loads nothing again without content-changed true"
  case activityBudget =
    "A, O: pushes of Live Activities with priority 10 have a budget: 30 at once and one more every 2 minutes, with NSSupportsLiveActivitiesFrequentUpdates 100 and one every 36 seconds, and that more are dropped, are our choice"
  case reloadBudget =
    "A, O: controls and widgets load again within a budget: 40 at once for each and one more every 36 minutes, and that more are dropped, are our choice"
  case activityExpired =
    "A: the Live Activity has run for 8 hours: the system ends it, and it stays for up to 4 more on the lock screen"
  case activityRemoved = "A: the user has removed the Live Activity: it has ended, and its app is notified"
  case activityDenied =
    "A, O: Live Activities are switched off for the app in Settings: none starts (and running ones end: our choice)"
  case activityNotSeen =
    "A: an app starts a Live Activity in the foreground only, or by a LiveActivityIntent, since iOS 17"
  case activityWakes =
    "A: a start push wakes or launches the app, so that it can send the update token to its server"
  case activityForceQuit =
    "O: after a force-quit a start push starts the Live Activity, but does not wake the app"
  case activityTokenChanged =
    "A: the update token of a Live Activity may change while it runs: the new one goes to the server, the old one becomes invalid"

  /// The letters; where there are two, for the two halves of what is said.
  package var evidence: [Evidence] { rawValue.words.compactMap(Evidence.init) }

  /// What it says, for people: a lower-case sentence.
  package var sentence: String { rawValue.sentence }
}

/// What a rule says: what kind it is and the letters of how it is known, a colon, and a sentence.
package struct RuleText: ExpressibleByStringLiteral, Equatable, Sendable {
  private let text: String

  package init(stringLiteral text: String) { self.text = text }

  var words: [String] { text.prefix { $0 != ":" }.split(separator: ", ").map(String.init) }
  var sentence: String { String(text.drop { $0 != ":" }.dropFirst(2)) }
}

/// A rule whose name is its case's: `systemShows` is `system-shows`.
package protocol RuleNamed: Sendable, CaseIterable, RawRepresentable<RuleText> {}

extension RuleNamed {
  package var name: String { String(describing: self).hyphenated }
}

extension String {
  /// The name of a case as programs are told it: `systemShows` is `system-shows`.
  var hyphenated: String {
    reduce(into: "") { $0 += $1.isUppercase ? "-\($1.lowercased())" : "\($1)" }
  }
}
