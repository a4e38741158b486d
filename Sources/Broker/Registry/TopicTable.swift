import Basics
import PushModel

/// The topics that somebody has mentioned, by name or by hash, each in a place of its own.
///
///     unused ─ a row, a channel or a feedback entry is of it ─→ in use ─ the last of them has gone ─→ unused
///       └─ too many are unused, and it was asked for longest ago ─→ its place is another topic's, under another id
///
/// So names that strangers invent take a bounded part of the memory, and in the end make room for each other; what is in use
/// stays. Whoever still has the id of a topic that has gone finds that it is nobody's (`contains`).
struct TopicTable {
  /// What is known of a place besides its topic.
  private struct Use {
    /// Rows, channels and feedback entries of the topic, as a count.
    var references: Int32 = 0
    /// How often the place was given to another topic; begins again behind the last that an id has room for.
    var round: Int32 = 0
    /// Its neighbours among those that are unused.
    @Packed var older: TopicID? = nil
    @Packed var newer: TopicID? = nil
  }

  private var entries: [TopicEntry] = []
  private var uses: [Use] = []
  private var byHash: [TopicHash: TopicID] = [:]
  private var byName: [Topic: TopicID] = [:]
  private var oldest: TopicID?
  private var newest: TopicID?
  private(set) var unusedCount = 0
  /// Most topics, as a count.
  private let limit: Int
  /// Most that are unused, as a count: names that providers and people have said, and that no device has asked for. The one that was
  /// asked for longest ago makes room.
  var unusedLimit = 10_000
  private var teams = TeamTopics()
  /// Those that the store has not seen as they are; one may be named more than once.
  private var changed: [TopicID] = []

  init(limit: Int) { self.limit = min(limit, TopicID.placeLimit) }

  // MARK: Looking

  var count: Int { entries.count }
  var usedCount: Int { entries.count - unusedCount }

  /// All, in the order of their places.
  var ids: [TopicID] { uses.indices.map(id) }
  /// Of those that have one.
  var names: [Topic] { entries.compactMap(\.name) }

  func contains(_ id: TopicID) -> Bool {
    uses.indices.contains(id.place) && uses[id.place].round == id.round
  }

  func isUsed(_ id: TopicID) -> Bool { contains(id) && uses[id.place].references > 0 }
  private func isUsedOnce(_ id: TopicID) -> Bool { contains(id) && uses[id.place].references == 1 }

  /// The topic of an id that it contains.
  @inline(__always)
  subscript(id: TopicID) -> TopicEntry { entries[id.place] }

  func find(_ hash: TopicHash) -> TopicID? { byHash[hash] }
  func find(_ name: Topic) -> TopicID? { byName[name] }

  private func id(_ place: Int) -> TopicID { TopicID(place: place, round: uses[place].round) }

  // MARK: What somebody says

  /// The topic's id, added if new; nil when all there may be are in use.
  mutating func id(_ name: Topic) -> TopicID? {
    if let known = find(name) {
      touch(known)
      return known
    }
    guard let id = id(TopicHash(name)) else { return nil }
    self.name(id, name)
    changed.append(id)
    return id
  }

  /// The same of a topic whose name nobody has said.
  mutating func id(_ hash: TopicHash) -> TopicID? {
    if let known = find(hash) {
      touch(known)
      return known
    }
    guard let id = add(hash) else { return nil }
    changed.append(id)
    return id
  }

  /// Who has a topic of this name by its hash can be shown with it from now on.
  mutating func learn(_ name: Topic) {
    guard find(name) == nil, let id = find(TopicHash(name)) else { return }
    self.name(id, name)
    changed.append(id)
  }

  /// Puts a topic back, in the order of their places.
  mutating func restore(_ hash: TopicHash, _ name: Topic?) {
    guard find(hash) == nil, let id = add(hash, replaces: false) else { return }
    if let name { self.name(id, name) }
  }

  /// Those that changed since the last call.
  mutating func takeChanged() -> [TopicID] {
    defer { changed = [] }
    return changed
  }

  /// All count as changed.
  mutating func noteAll() { changed = ids }

  // MARK: Teams

  /// Topics that a team has brought, as a count.
  func count(ofTeam team: String) -> Int { teams.count(team) }

  /// A provider with a team's token has had something made of a topic. If nothing else is of it, the team has brought it.
  mutating func noteFirstUse(of topic: TopicID, by team: String) {
    if isUsedOnce(topic) { teams.add(topic, of: team) }
  }

  // MARK: Coming and going

  /// Adds a topic that is not there, unused; nil when all are in use. With `replaces` false none has to go for it.
  private mutating func add(_ hash: TopicHash, replaces: Bool = true) -> TopicID? {
    if replaces, unusedCount >= unusedLimit || entries.count >= limit, let oldest {
      return replace(oldest, by: hash)
    }
    guard entries.count < limit else { return nil }
    let id = TopicID(place: entries.count, round: 0)
    entries.append(TopicEntry(hash: hash, name: nil))
    uses.append(Use())
    byHash[hash] = id
    append(id)
    return id
  }

  private mutating func replace(_ old: TopicID, by hash: TopicHash) -> TopicID {
    remove(old)
    byHash[entries[old.place].hash] = nil
    if let name = entries[old.place].name { byName[name] = nil }
    let id = TopicID(place: old.place, round: old.nextRound)
    entries[id.place] = TopicEntry(hash: hash, name: nil)
    uses[id.place].round = id.round
    byHash[hash] = id
    append(id)
    return id
  }

  /// Somebody says what it is called.
  private mutating func name(_ id: TopicID, _ name: Topic) {
    entries[id.place].name = name
    byName[name] = id
  }

  /// It was asked for: of those that are unused it goes last.
  private mutating func touch(_ id: TopicID) {
    guard uses[id.place].references == 0, newest != id else { return }
    remove(id)
    append(id)
  }

  /// A row, a channel or a feedback entry is of it from now on.
  mutating func retain(_ id: TopicID) {
    guard contains(id) else { return }
    if uses[id.place].references == 0 { remove(id) }
    uses[id.place].references += 1
  }

  /// One of those has gone.
  mutating func release(_ id: TopicID) {
    guard isUsed(id) else { return }
    uses[id.place].references -= 1
    guard uses[id.place].references == 0 else { return }
    append(id)
    teams.remove(id)
  }

  // MARK: Those that are unused, oldest first

  private mutating func append(_ id: TopicID) {
    (uses[id.place].older, uses[id.place].newer) = (newest, nil)
    if let newest { uses[newest.place].newer = id } else { oldest = id }
    newest = id
    unusedCount += 1
  }

  private mutating func remove(_ id: TopicID) {
    let (older, newer) = (uses[id.place].older, uses[id.place].newer)
    if let older { uses[older.place].newer = newer } else { oldest = newer }
    if let newer { uses[newer.place].older = older } else { newest = older }
    unusedCount -= 1
  }
}

/// A topic that somebody has mentioned: by name, or, on the device side, only by its hash.
public struct TopicEntry: Hashable, Sendable {
  public var hash: TopicHash
  /// nil until a certificate, a push, the console or our own simulated device says it.
  public var name: Topic?

  public init(hash: TopicHash, name: Topic?) { (self.hash, self.name) = (hash, name) }
  public init(_ name: Topic) { self.init(hash: TopicHash(name), name: name) }

  public static let form = RowForm<TopicEntry>([
    RowField(1, "hash", .topicHash, \.hash), RowField(2, "name", .optional(.topic), \.name),
  ])

  /// What a row is read into.
  public static let blank = TopicEntry(hash: TopicHash(), name: nil)

  /// The name, or `sha1:` and the hash where the name isn't known.
  public var label: String { name?.name ?? "sha1:\(hash.hex)" }
}

/// Topics that were nobody's until a team's provider made a channel of them or had a token of them registered, for as long as
/// something is of them.
private struct TeamTopics {
  private var teams: [TopicID: String] = [:]
  private var counts: [String: Int] = [:]

  /// Topics of a team, as a count.
  func count(_ team: String) -> Int { counts[team] ?? 0 }

  mutating func add(_ topic: TopicID, of team: String) {
    guard teams[topic] == nil else { return }
    teams[topic] = team
    counts[team, default: 0] += 1
  }

  /// Nothing is of the topic any more.
  mutating func remove(_ topic: TopicID) {
    guard let team = teams.removeValue(forKey: topic), let count = counts[team] else { return }
    counts[team] = count > 1 ? count - 1 : nil
  }
}

/// What of a topic some tokens are for, each in a place of its own.
struct ContextTable {
  /// Most contexts, as a count: simulated devices say what they are called.
  let limit: Int

  private var contexts: [TokenContext] = []
  private var ids: [TokenContext: TokenContextID] = [:]

  init(limit: Int = 1_000_000) { self.limit = limit }

  func find(_ context: TokenContext) -> TokenContextID? { ids[context] }
  subscript(id: TokenContextID) -> TokenContext { contexts[id.index] }

  /// The id of a context, added if new; nil when there are too many.
  mutating func id(_ context: TokenContext) -> TokenContextID? {
    if let known = ids[context] { return known }
    guard contexts.count < limit else { return nil }
    let id = TokenContextID(contexts.count)
    contexts.append(context)
    ids[context] = id
    return id
  }
}
