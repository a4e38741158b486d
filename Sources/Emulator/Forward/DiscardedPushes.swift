import PushModel

/// Notifications that their provider takes for discarded, because one before them on their connection was rejected, and that
/// had been forwarded already, since answers take their time.
///
/// The provider is to send them again (`Documentation/binary-protocol.md#error-packet`). The first that looks like one
/// of these is it: it takes over what is under way, or counts as accepted if the other service has accepted it. So each
/// arrives once, and many notifications of a connection may be under way at a time. Whether two look alike, token,
/// payload, priority and topic say; not the expiration, which some providers compute when they send.
package struct DiscardedPushes {
  /// How long one is remembered, in nanoseconds. Providers resend at once, some when their next batch is due.
  static let memory: Int64 = 600_000_000_000
  /// Most that are remembered, as a count: those of ten connections with the largest window.
  package static let limit = 10 * ForwardOptions.maximumWindow

  /// Where one is that a provider sends again.
  package enum Found: Equatable {
    /// On its way; by its id.
    case underWay(UInt64)
    /// Accepted by the other service; by its id.
    case accepted(UInt64)
  }

  private struct Key: Hashable {
    var topic: String
    var environment: Environment
    var priority: Priority
    var token: [UInt8]
    var payload: [UInt8]

    init(_ push: ForwardPush) {
      (topic, environment, priority) = (push.topicName, push.environment, push.priority)
      (token, payload) = (push.token, push.payload)
    }
  }

  private struct Entry {
    let id: UInt64
    let key: Key
    /// Of the key: tells most apart that do not look alike.
    let hash: Int
    var isAccepted: Bool
    var since: Int64
  }

  /// In order of coming.
  private var entries: [Entry] = []

  package var count: Int { entries.count }

  package init() {}

  /// One is under way, or was accepted, and its provider will send it again.
  package mutating func remember(_ push: ForwardPush, isAccepted: Bool, now: Int64) {
    forgetOld(now: now)
    if let index = entries.firstIndex(where: { $0.id == push.id }) {
      (entries[index].isAccepted, entries[index].since) = (isAccepted, now)
    } else {
      let key = Key(push)
      entries.append(
        Entry(id: push.id, key: key, hash: key.hashValue, isAccepted: isAccepted, since: now))
    }
  }

  /// The other service did not take it: the provider's second try counts.
  package mutating func forget(_ id: UInt64) {
    if let index = entries.firstIndex(where: { $0.id == id }) { entries.remove(at: index) }
  }

  /// The oldest one that looks like `push`, which is forgotten here.
  package mutating func take(like push: ForwardPush, now: Int64) -> Found? {
    guard !entries.isEmpty else { return nil }
    forgetOld(now: now)
    let key = Key(push)
    let hash = key.hashValue
    guard let index = entries.firstIndex(where: { $0.hash == hash && $0.key == key }) else { return nil }
    let entry = entries.remove(at: index)
    return entry.isAccepted ? .accepted(entry.id) : .underWay(entry.id)
  }

  /// Those whose time is over, and the oldest where there are too many.
  private mutating func forgetOld(now: Int64) {
    let passed = entries.firstIndex { now - $0.since < Self.memory } ?? entries.count
    entries.removeFirst(max(passed, entries.count + 1 - Self.limit))
  }
}
