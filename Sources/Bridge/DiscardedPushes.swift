import Basics
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
    let topic: String
    let environment: Environment
    let priority: Priority
    let token: [UInt8]
    let payload: [UInt8]
    /// Of all of these, made once: a payload may be long, and ten thousand may be forgotten at a time.
    private let hash: Int

    init(_ push: ForwardPush) {
      (topic, environment, priority) = (push.topicName, push.environment, push.priority)
      (token, payload) = (push.token, push.payload)
      var hasher = Hasher()
      hasher.combine(topic)
      hasher.combine(token)
      hasher.combine(payload)
      hash = hasher.finalize()
    }

    func hash(into hasher: inout Hasher) { hasher.combine(hash) }
  }

  private struct Entry {
    let id: UInt64
    let key: Key
    var isAccepted: Bool
    var since: Instant
  }

  /// By number, in order of coming: from `first` on, with some that are gone.
  private var entries: [Int: Entry] = [:]
  private var (first, next) = (0, 0)
  /// Numbers by id of the push.
  private var numbers: [UInt64: Int] = [:]
  /// Numbers of those that look alike, in order of coming.
  private var alike: [Key: [Int]] = [:]

  package var count: Int { entries.count }

  package init() {}

  /// One is under way, or was accepted, and its provider will send it again.
  package mutating func remember(_ push: ForwardPush, isAccepted: Bool, now: Instant) {
    forgetOld(now: now)
    if let number = numbers[push.id] {
      entries[number]?.isAccepted = isAccepted
      entries[number]?.since = now
    } else {
      add(Key(push), id: push.id, isAccepted: isAccepted, now: now)
    }
  }

  private mutating func add(_ key: Key, id: UInt64, isAccepted: Bool, now: Instant) {
    entries[next] = Entry(id: id, key: key, isAccepted: isAccepted, since: now)
    numbers[id] = next
    alike[key, default: []].append(next)
    next += 1
  }

  /// The other service did not take it: the provider's second try counts.
  package mutating func forget(_ id: UInt64) {
    if let number = numbers[id] { remove(number) }
  }

  /// The oldest one that looks like `push`, which is forgotten here.
  package mutating func take(like push: ForwardPush, now: Instant) -> Found? {
    guard !entries.isEmpty else { return nil }
    forgetOld(now: now)
    guard let number = alike[Key(push)]?.first, let entry = remove(number) else { return nil }
    return entry.isAccepted ? .accepted(entry.id) : .underWay(entry.id)
  }

  @discardableResult
  private mutating func remove(_ number: Int) -> Entry? {
    guard let entry = entries.removeValue(forKey: number) else { return nil }
    numbers[entry.id] = nil
    let others = alike[entry.key]?.filter { $0 != number } ?? []
    alike[entry.key] = others.isEmpty ? nil : others
    return entry
  }

  /// Those whose time is over, and the oldest where there are too many.
  private mutating func forgetOld(now: Instant) {
    while first < next {
      if let entry = entries[first], now.nanoseconds(since: entry.since) < Self.memory, count < Self.limit {
        return
      }
      remove(first)
      first += 1
    }
  }
}
