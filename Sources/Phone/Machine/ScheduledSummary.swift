import Basics
import PushModel

/// What waits for the scheduled summary, and its delivery (`Documentation/device-behaviour.md#presentation`).
extension SimulatedPhone {
  /// Whether a notification waits, if its app is in the summary: not what is urgent, and not what is delivered quietly anyway.
  func waitsForSummary(_ push: PhonePush, _ app: PhoneApp) -> Bool {
    isInSummary(push.topic) && push.content.hasText && !app.permission.isQuiet && !isUrgent(push, app)
  }

  func isInSummary(_ topic: Topic) -> Bool {
    version >= IOSVersion(15) && settings.summary?.apps.contains(topic) == true
  }

  /// Nothing is to be seen or heard of it until then, but for the badge.
  mutating func wait(for push: PhonePush, _ app: PhoneApp) {
    let note = PhoneNote(push: push, shown: .list, at: now, thread: push.content.threadId)
    forgetWaiting(for: note)
    waiting.append(note)
    if waiting.count > SimulatedPhone.noteLimit { waiting.removeFirst() }
    let next = planSummary()
    tell(push, .held, .summaryWaits, next.map { "until \($0.rfc3339)" } ?? "")
    sound(push, app, silencedBy: .summaryWaits)
    setBadge(push, app)
  }

  /// A later one with the same collapse id, or identifier, takes its place.
  mutating func forgetWaiting(for note: PhoneNote) {
    guard let index = waiting.firstIndex(where: { $0.isReplaced(by: note) }) else { return }
    tell(waiting.remove(at: index).push, .merged, note.push.isLocal ? .localReplaced : .collapse)
  }

  /// What belongs to no summary any more comes at once.
  mutating func reviewSummary() {
    guard !waiting.isEmpty else { return }
    let all = waiting
    waiting = all.filter { !isInSummary($0.push.topic) }
    showSummary()
    waiting = all.filter { isInSummary($0.push.topic) }
    planSummary()
  }

  /// Answers when it is delivered next.
  @discardableResult private mutating func planSummary() -> Timestamp? {
    guard !waiting.isEmpty, let next = settings.summary?.moment(after: now) else { return nil }
    agenda.add(.summary, at: next)
    return next
  }

  /// The most relevant first; of the same, the newest.
  mutating func showSummary() {
    let order = waiting.enumerated().sorted {
      ($0.element.relevance, $0.offset) > ($1.element.relevance, $1.offset)
    }
    let all = order.map(\.element.push)
    waiting = []
    // On the screen the last one stands on top.
    let shown = all.reversed().map { push in showInSummary(push) }.reversed()
    for (push, shown) in zip(all, shown) {
      guard let shown else {
        tell(push, .notPresented, apps[push.topic]?.permission.isGiven == true ? .alertOff : .denied)
        continue
      }
      tellShown(push, shown.places, replaces: shown.replaced, .summaryShows)
    }
  }

  private mutating func showInSummary(_ push: PhonePush) -> (places: Presentation, replaced: UInt64?)? {
    guard let app = apps[push.topic], app.permission.isGiven else { return nil }
    let wanted: Presentation = settings.isLocked ? [.lockScreen, .list] : .list
    let places = wanted.intersection(app.permission.places)
    guard !places.isEmpty else { return nil }
    let note = PhoneNote(push: push, shown: places, at: now, thread: push.content.threadId)
    return (places, board.show(note).replaced)
  }
}

extension PhoneNote {
  /// Apple: 0 for none.
  fileprivate var relevance: Double { push.content.relevance ?? 0 }
}
