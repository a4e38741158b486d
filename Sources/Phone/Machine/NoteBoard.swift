import Basics
import PushModel

/// What has been delivered and not been taken away, oldest first.
struct NoteBoard: Sendable {
  private(set) var notes: [PhoneNote] = []
  /// The one whose banner came last.
  private var bannerId: UInt64?
  /// What the user has opened wide.
  private(set) var expandedId: UInt64?

  /// How long a banner stays, in nanoseconds (our choice).
  private static let bannerTime: Int64 = 5_000_000_000

  /// Shows one, in the place of what it replaces; answers that, and how many of its group were there before.
  mutating func show(_ note: PhoneNote) -> (replaced: UInt64?, group: Int) {
    let old = notes.firstIndex { $0.isReplaced(by: note) }.map { notes.remove(at: $0).id }
    let group =
      note.thread == nil ? 0 : notes.count { $0.push.topic == note.push.topic && $0.thread == note.thread }
    notes.append(note)
    if notes.count > SimulatedPhone.noteLimit { forget(notes.removeFirst().id) }
    if note.shown.contains(.banner) { bannerId = note.id }
    if let old { forget(old) }
    return (old, group)
  }

  subscript(id: UInt64) -> PhoneNote? { notes.first { $0.id == id } }

  mutating func remove(_ id: UInt64) -> PhoneNote? {
    guard let index = notes.firstIndex(where: { $0.id == id }) else { return nil }
    forget(id)
    return notes.remove(at: index)
  }

  mutating func removeAll(of topic: Topic) {
    notes.removeAll { $0.push.topic == topic }
    if let bannerId, self[bannerId] == nil { self.bannerId = nil }
    if let expandedId, self[expandedId] == nil { self.expandedId = nil }
  }

  /// What was on the lock screen is in the list from then on.
  mutating func unlock() {
    for index in notes.indices { notes[index].shown.remove(.lockScreen) }
    bannerId = nil
  }

  /// Nothing is open or in passing on a screen that is off.
  mutating func lock() { (bannerId, expandedId) = (nil, nil) }

  mutating func flick() { bannerId = nil }
  mutating func expand(_ id: UInt64?) { expandedId = id }

  /// The banner that is to be seen.
  func banner(at now: Timestamp) -> PhoneNote? {
    guard let note = bannerId.flatMap({ self[$0] }), now < note.at.adding(nanoseconds: Self.bannerTime) else {
      return nil
    }
    return note
  }

  /// When a banner goes by itself; nil for none.
  func nextMoment(after now: Timestamp) -> Timestamp? {
    banner(at: now)?.at.adding(nanoseconds: Self.bannerTime)
  }

  private mutating func forget(_ id: UInt64) {
    if bannerId == id { bannerId = nil }
    if expandedId == id { expandedId = nil }
  }
}

/// Something that was delivered and not been taken away.
package struct PhoneNote: Sendable {
  package let push: PhonePush
  package internal(set) var shown: Presentation
  package let at: Timestamp
  /// What groups it in the list; nil where nothing is grouped.
  let thread: String?

  package var id: UInt64 { push.id }

  /// A later one of the same app and collapse id, or local identifier, takes its place.
  func isReplaced(by other: PhoneNote) -> Bool {
    guard push.topic == other.push.topic else { return false }
    return other.push.collapseId != nil && push.collapseId == other.push.collapseId
      || other.push.isLocal && push.localIdentifier == other.push.localIdentifier
  }
}
