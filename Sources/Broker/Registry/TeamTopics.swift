import PushModel

/// Topics that were nobody's until a team's provider made a channel of them or had a token of them registered, for as long as
/// something is of them.
struct TeamTopics {
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
