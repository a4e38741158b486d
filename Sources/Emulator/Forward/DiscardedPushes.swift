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
    var key: Key
    var found: Found
    var since: Int64
  }

  /// By id of the push.
  private var entries: [UInt64: Entry] = [:]
  /// Ids of those that look alike, in order of coming.
  private var alike: [Key: [UInt64]] = [:]
  /// Ids in order of coming, with some that are gone.
  private var order: [UInt64] = []

  package var count: Int { entries.count }

  package init() {}

  /// One is under way, or was accepted, and its provider will send it again.
  package mutating func remember(_ push: ForwardPush, isAccepted: Bool, now: Int64) {
    forgetOld(now: now)
    let key = Key(push)
    if entries[push.id] == nil {
      alike[key, default: []].append(push.id)
      order.append(push.id)
    }
    entries[push.id] = Entry(
      key: key, found: isAccepted ? .accepted(push.id) : .underWay(push.id), since: now)
  }

  /// The other service did not take it: the provider's second try counts.
  package mutating func forget(_ id: UInt64) {
    guard let entry = entries.removeValue(forKey: id) else { return }
    alike[entry.key]?.removeAll { $0 == id }
    if alike[entry.key]?.isEmpty == true { alike[entry.key] = nil }
    if order.count > 2 * Self.limit { order.removeAll { entries[$0] == nil } }
  }

  /// The oldest one that looks like `push`, which is forgotten here.
  package mutating func take(like push: ForwardPush, now: Int64) -> Found? {
    guard !entries.isEmpty else { return nil }
    forgetOld(now: now)
    guard let id = alike[Key(push)]?.first, let found = entries[id]?.found else { return nil }
    forget(id)
    return found
  }

  /// Those whose time is over, and the oldest where there are too many.
  private mutating func forgetOld(now: Int64) {
    var passed = 0
    for id in order {
      if let entry = entries[id], now - entry.since < Self.memory, entries.count < Self.limit { break }
      forget(id)
      passed += 1
    }
    order.removeFirst(min(passed, order.count))
  }
}
