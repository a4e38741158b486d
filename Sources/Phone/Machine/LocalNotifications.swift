import PushModel

/// Notifications that an app gives itself (`Documentation/device-behaviour.md#local-notifications`).
extension SimulatedPhone {
  /// The app asks for one.
  mutating func schedule(_ request: LocalRequest) {
    guard let app = apps[request.topic] else { return }
    let topic = request.topic
    if version.hasDelegate, request.repeats, let after = request.trigger.after, after < LocalRequest.minute {
      return crash(topic, .localTooOften, request.identifier)
    }
    if let attachment = request.content.attachment, !attachment.isValid {
      return tell(topic, .dropped, .localAttachment, "\(request.identifier), \(attachment.name)")
    }
    var request = request
    request.next = request.moment(after: now)
    let isByUnit = !version.hasDelegate && request.repeatByUnit()
    guard app.permission.isGiven, request.next != nil || request.trigger.isAtPlace else {
      return tell(topic, .dropped, .localDropped, request.identifier)
    }
    if request.next == now {
      local.remove(topic, [request.identifier])
      return deliver(request)
    }
    let (replaced, gone) = local.add(request, keepsSoonest: !version.hasDelegate)
    let rule: PhoneRule = replaced ? .localReplaced : isByUnit ? .localByUnit : .localScheduled
    tell(topic, .scheduled(request.next), rule, request.identifier)
    if let gone {
      tell(topic, .dropped, version.hasDelegate ? .localLimit : .localLimitOld, gone.identifier)
    }
  }

  private mutating func crash(_ topic: Topic, _ rule: PhoneRule, _ argument: String) {
    tell(topic, .exception, rule, argument)
    if apps[topic]?.state.isRunning == true { move(topic, to: .terminated) }
  }

  /// The app takes some back, or all, whether they wait or have been delivered.
  mutating func unschedule(_ topic: Topic, _ identifiers: [String]?) {
    local.remove(topic, identifiers)
    for note in board.notes where note.push.topic == topic {
      guard let own = note.push.localIdentifier, identifiers?.contains(own) ?? true else { continue }
      _ = board.remove(note.id)
    }
    waiting.removeAll {
      $0.push.topic == topic && $0.push.localIdentifier.map { identifiers?.contains($0) ?? true } ?? false
    }
    tell(topic, .unscheduled, .localRemoved, identifiers?.joined(separator: ", ") ?? "all")
  }

  mutating func cross(_ region: String, entering: Bool) {
    for request in local.cross(region, entering: entering) { deliver(request) }
  }

  mutating func deliver(_ request: LocalRequest) {
    guard apps[request.topic] != nil else { return }
    receiveVisible(
      localized(
        PhonePush(id: makeId(), topic: request.topic, local: request.identifier, content: request.content)))
  }
}
