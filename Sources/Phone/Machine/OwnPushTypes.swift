import PushModel

/// A VoIP call that the user has before him.
struct IncomingCall: Sendable {
  enum State: String { case ringing, answered }

  let id: UInt64
  let topic: Topic
  let caller: String
  let notificationId: UInt64?
  var state = State.ringing
}

/// Push types that are no notifications of an app (`Documentation/device-behaviour.md#tokens-and-push-types`).
extension SimulatedPhone {
  mutating func handOver(_ push: PhonePush, _ type: PushType, _ own: (rule: PhoneRule, since: IOSVersion)) {
    guard version >= own.since else { return tell(push, .dropped, .tooOld) }
    switch type {
    case .voip: ring(push)
    case .complication: handToWatch(push)
    case .location: locate(push)
    case .pushtotalk: speak(push)
    case .liveactivity: changeActivity(push)
    case .controls, .widgets:
      guard push.isContentChanged else { return tell(push, .dropped, .notChanged) }
      guard apps[push.topic]?.spend(type == .controls ? .controls : .widgets, at: now) == true else {
        return tell(push, .dropped, .reloadBudget)
      }
      tell(push, .handedOver(type), own.rule)
    case .alert, .background, .fileprovider, .mdm: tell(push, .handedOver(type), own.rule)
    }
  }

  // MARK: VoIP

  /// How often an app may fail to report a call before it is not launched any more (our choice).
  private static let callFailures = 3

  private mutating func ring(_ push: PhonePush) {
    guard let app = apps[push.topic] else { return }
    guard app.unreportedCalls < Self.callFailures || app.state.isRunning else {
      return tell(push, .dropped, .voipBarred)
    }
    launch(push, app, .voip)
    tell(push, .handedOver(.voip), .voip)
    tellIncoming(push, app)
    guard !app.build.reportsCalls else {
      call = IncomingCall(
        id: push.id, topic: push.topic, caller: push.caller ?? "", notificationId: push.notificationId)
      return tell(push, .ringing, .voipReported)
    }
    guard version >= IOSVersion(13) else { return }
    guard version < Self.metadataSince || app.build.mustReportCalls else {
      return tell(push, .noCallback, .voipNeedNotReport)
    }
    apps[push.topic]?.unreportedCalls += 1
    tell(push, .terminated, .voipNotReported)
    end(push.topic, as: .terminated)
  }

  /// From this version on the push comes with metadata, which tell whether the app must report a call.
  private static let metadataSince = IOSVersion(26, 4)

  private mutating func tellIncoming(_ push: PhonePush, _ app: PhoneApp) {
    guard version >= Self.metadataSince else {
      return tell(push, .called(version >= IOSVersion(11) ? .incomingPush : .incomingPushBefore11), .voip)
    }
    tell(
      push, .called(.incomingVoIPPush), .voipMetadata,
      "mustReport \(app.build.mustReportCalls ? "true" : "false")")
  }

  /// The user takes the call, or does not.
  mutating func answerCall(_ call: IncomingCall, takes: Bool) {
    tell(call.topic, takes ? .answered : .declined, .callAnswered)
    self.call = takes ? call : nil
    self.call?.state = .answered
  }

  // MARK: Watch, place, speech

  /// Complication pushes that are delivered in a day.
  private static let complicationsADay = 50

  private mutating func handToWatch(_ push: PhonePush) {
    guard let app = apps[push.topic] else { return }
    guard app.build.isOnWatchFace else { return tell(push, .dropped, .complicationAway) }
    guard app.complicationPushes.count(at: now) < Self.complicationsADay else {
      return tell(push, .dropped, .complicationSpent)
    }
    let moment = now
    apps[push.topic]?.complicationPushes.add(at: moment)
    tell(push, .handedOver(.complication), .complication)
  }

  private mutating func locate(_ push: PhonePush) {
    guard apps[push.topic]?.build.mayLocateAlways == true else {
      return tell(push, .dropped, .locationDenied)
    }
    tell(push, .handedOver(.location), .location)
    tell(push, .called(.locationPush), .location)
  }

  private mutating func speak(_ push: PhonePush) {
    guard let app = apps[push.topic], app.build.isInChannel else {
      return tell(push, .dropped, .pushToTalkIdle)
    }
    launch(push, app, .pushToTalk)
    tell(push, .handedOver(.pushtotalk), .pushToTalk)
    tell(push, .called(.incomingSpeech), .pushToTalk)
  }
}

extension PushType {
  /// What a push of this type is for, and the first iOS that has tokens for it; nil for notifications of an app.
  var ownRule: (rule: PhoneRule, since: IOSVersion)? {
    switch self {
    case .alert, .background: nil
    case .voip: (.voip, IOSVersion(8))
    case .complication: (.complication, IOSVersion(9))
    case .fileprovider: (.fileProvider, IOSVersion(11))
    case .location: (.location, IOSVersion(15))
    case .pushtotalk: (.pushToTalk, IOSVersion(16))
    case .liveactivity: (.liveActivity, IOSVersion(16, 1))
    case .mdm: (.management, IOSVersion.first)
    case .controls: (.controls, IOSVersion(18))
    case .widgets: (.widgets, IOSVersion(26))
    }
  }
}
