/// How a rule is known.
public enum Evidence: String, Sendable, CaseIterable {
  /// Apple's documentation.
  case documented = "A"
  /// Measured and published by app developers.
  case measured = "M"
  /// Nobody knows; it is our choice.
  case ours = "O"

  /// For people.
  public var sentence: String {
    switch self {
    case .documented: "Apple's documentation"
    case .measured: "measured and published by app developers"
    case .ours: "nobody knows; it is our choice"
    }
  }
}

/// The rules by which iOS treats a push (`Documentation/device-behaviour.md`). Each has one name that events, `explain`,
/// documentation and tests share, and says how it is known.
public enum PhoneRule: String, Sendable, CaseIterable, Hashable {
  // What kind of push it is, and who may have it.
  case notInstalled = "not-installed"
  case nothingInIt = "nothing-in-it"

  // Push types with an API of their own.
  case tooOld = "too-old"
  case voip, complication, fileProvider, location, pushToTalk, liveActivity, management, controls, widgets

  // An app in the foreground.
  case foregroundAsks = "foreground-asks"
  case foregroundLate = "foreground-late"
  case foregroundHidden = "foreground-hidden"
  case foregroundFetch = "foreground-fetch"
  case foregroundReceive = "foreground-receive"
  case foregroundNobody = "foreground-nobody"
  case foregroundBoth = "foreground-both"

  // An app that is not.
  case systemShows = "system-shows"
  case systemCallsNobody = "system-calls-nobody"
  case alertWakes = "alert-wakes"
  case alertForceQuit = "alert-force-quit"

  // A tap, and the icon.
  case tapOpens = "tap-opens"
  case tapResponse = "tap-response"
  case tapFetch = "tap-fetch"
  case tapFetchAgain = "tap-fetch-again"
  case tapReceive = "tap-receive"
  case tapLaunchWithoutReceive = "tap-launch-without-receive"
  case tapNobody = "tap-nobody"
  case delegateTooLate = "delegate-too-late"
  case iconCallsNobody = "icon-calls-nobody"

  // A silent push.
  case silentFetch = "silent-fetch"
  case silentReceive = "silent-receive"
  case silentNobody = "silent-nobody"
  case silentMode = "silent-mode"
  case silentForceQuit = "silent-force-quit"
  case silentType = "silent-type"
  case silentBudget = "silent-budget"
  case silentHeld = "silent-held"
  case silentMerged = "silent-merged"
  case silentReleased = "silent-released"
  case silentDiscarded = "silent-discarded"

  // What is to be seen and heard.
  case denied
  case notAsked = "not-asked"
  case provisional
  case passive
  case focus
  case throughFocus = "through-focus"
  case badge
  case badgeOff = "badge-off"
  case sound
  case soundOff = "sound-off"
  case criticalSound = "critical-sound"
  case collapse
  case removed

  // The service extension.
  case extensionRuns = "extension-runs"
  case extensionDenied = "extension-denied"
  case extensionNoText = "extension-no-text"

  /// The letters; where there are two, for the two halves of what is said.
  public var evidence: [Evidence] { row.0 }

  /// What it says, for people: a lower-case sentence.
  public var sentence: String { row.1 }

  /// The heading of `Documentation/device-behaviour.md` that it stands under.
  public var section: String {
    switch self {
    case .notInstalled, .notAsked: "registration-and-permission"
    case .silentFetch, .silentReceive, .silentNobody, .silentMode, .silentForceQuit, .silentType,
      .silentBudget, .silentHeld, .silentMerged, .silentReleased, .silentDiscarded, .nothingInIt:
      "silent-push"
    case .denied, .provisional, .passive, .focus, .throughFocus, .badge, .badgeOff, .sound, .soundOff,
      .criticalSound, .collapse, .removed:
      "presentation"
    case .extensionRuns, .extensionDenied, .extensionNoText: "service-extension"
    case .tooOld, .voip, .complication, .fileProvider, .location, .pushToTalk, .liveActivity, .management,
      .controls, .widgets:
      "tokens-and-push-types"
    default: "callbacks"
    }
  }

  private var row: ([Evidence], String) {
    switch self {
    case .notInstalled: ([.documented], "the app is not on the phone")
    case .nothingInIt:
      ([.ours], "aps has no alert, badge, sound or content-available: a foreground app gets it, nobody else")
    case .tooOld: ([.documented], "this version of iOS does not have the push type yet")
    case .voip:
      (
        [.documented],
        "wakes or launches the app for PushKit; one built with the iOS 13 SDK or later must report a call, or is terminated"
      )
    case .complication:
      ([.documented], "goes to the watch, while the complication is on the active face; 50 a day")
    case .fileProvider: ([.documented], "the file provider extension signals a change")
    case .location:
      ([.documented], "runs the Location Push Service Extension; needs Always permission and its entitlement")
    case .pushToTalk: ([.documented], "the channel manager's delegate must promptly say who speaks, or leave")
    case .liveActivity: ([.documented], "starts, updates or ends a Live Activity as its event says")
    case .management: ([.documented], "the device checks in with its MDM server; no app, nothing to see")
    case .controls: ([.documented], "the control loads its content anew, within its budget")
    case .widgets: ([.documented], "the widget loads its content anew, within its budget")
    case .foregroundAsks:
      (
        [.documented, .measured],
        "in the foreground the app decides: willPresent is asked, and its options are what shows"
      )
    case .foregroundLate:
      (
        [.documented, .ours],
        "willPresent's handler was not called in time (30 s are our choice): not presented, and nobody else is called"
      )
    case .foregroundHidden:
      ([.measured], "in the foreground without willPresent nothing shows, no sound plays, no badge changes")
    case .foregroundFetch:
      ([.measured], "in the foreground without willPresent the push goes to didReceive…fetch")
    case .foregroundReceive:
      (
        [.documented],
        "in the foreground without willPresent and …fetch it goes to didReceiveRemoteNotification"
      )
    case .foregroundNobody: ([.ours], "in the foreground the app implements nothing that could take it")
    case .foregroundBoth:
      ([.ours], "with content-available a foreground app gets willPresent and …fetch; sources differ")
    case .systemShows: ([.documented], "an app that is not in the foreground: the system shows it")
    case .systemCallsNobody:
      ([.documented, .measured], "what the system shows calls nobody until the user taps it")
    case .alertWakes: ([.documented, .measured], "an alert with content-available also wakes the app")
    case .alertForceQuit: ([.documented], "after a force-quit an alert shows, and wakes nobody")
    case .tapOpens: ([.documented], "a tap brings the app to the foreground, launching it if need be")
    case .tapResponse: ([.documented, .measured], "a tap goes to didReceive(response)")
    case .tapFetch: ([.measured], "a tap without didReceive(response) goes to didReceive…fetch")
    case .tapFetchAgain:
      (
        [.measured],
        "with content-available …fetch ran on arrival, and without didReceive(response) runs again on the tap"
      )
    case .tapReceive:
      ([.documented], "a tap without didReceive(response) and …fetch goes to didReceiveRemoteNotification")
    case .tapLaunchWithoutReceive:
      (
        [.documented],
        "didReceiveRemoteNotification is never called during a launch: the payload is in the launch options only"
      )
    case .tapNobody: ([.ours], "the app implements nothing that could take the tap")
    case .delegateTooLate:
      (
        [.ours],
        "the delegate was set after didFinishLaunching: didReceive(response) of the tap that launched the app is lost"
      )
    case .iconCallsNobody:
      ([.documented], "opening the app by its icon calls nobody; what was delivered stays in the list")
    case .silentFetch: ([.documented], "a silent push calls didReceive…fetch, waking or launching the app")
    case .silentReceive:
      ([.ours], "a silent push without …fetch goes to didReceiveRemoteNotification in the foreground")
    case .silentNobody: ([.documented], "a silent push needs didReceive…fetch")
    case .silentMode: ([.documented], "a silent push needs the background mode remote-notification")
    case .silentForceQuit:
      ([.documented], "the user has force-quit the app: it is not woken until it is opened once")
    case .silentType:
      (
        [.documented, .measured],
        "since iOS 13 a silent push needs push type background and priority 5; otherwise only a foreground app gets it"
      )
    case .silentBudget:
      (
        [.documented, .ours],
        "two or three silent pushes an hour: three at once and one more every 20 minutes are our choice, half of it in "
          + "Low Power Mode"
      )
    case .silentHeld:
      ([.ours], "the budget is used up: the newest silent push is held until there is some again")
    case .silentMerged: ([.documented], "of held silent pushes only the newest is kept")
    case .silentReleased:
      ([.documented, .ours], "a held silent push is delivered when the app is opened or has budget again")
    case .silentDiscarded:
      ([.documented], "a held silent push is discarded when the user force-quits the app")
    case .denied:
      (
        [.documented],
        "notifications are not allowed: nothing shows, no sound, no badge, no service extension"
      )
    case .notAsked:
      ([.documented], "the app has never been allowed notifications: the token is there, permission is not")
    case .provisional: ([.documented], "provisional permission: delivered quietly, to the list only")
    case .passive: ([.documented], "interruption level passive: to the list, the screen stays off")
    case .focus: ([.ours], "a Focus is on and does not allow the app: to the list, silently")
    case .throughFocus: ([.documented], "time-sensitive and critical notifications come through a Focus")
    case .badge: ([.documented], "badge sets the icon's number, 0 removes it, and without one it stays")
    case .badgeOff: ([.documented], "badges are switched off for the app")
    case .sound: ([.documented], "sound plays a file of the app, or the default where that is missing")
    case .soundOff: ([.documented], "sounds are switched off for the app")
    case .criticalSound: ([.documented], "a critical sound ignores mute and Focus; it needs its entitlement")
    case .collapse: ([.documented], "a later one with the same collapse id replaces what is shown")
    case .removed: ([.documented], "the user has taken it out of the list")
    case .extensionRuns:
      (
        [.documented],
        "mutable-content with a text, and alerts allowed: the service extension runs first, 30 s at most"
      )
    case .extensionDenied: ([.documented], "alerts are not allowed: the service extension does not run")
    case .extensionNoText:
      ([.documented], "mutable-content without title, subtitle or body: the service extension does not run")
    }
  }
}
