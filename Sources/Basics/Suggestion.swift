/// What somebody may have meant.
public enum Suggestion {
  /// Longest word that is compared, in bytes; the work grows with the square.
  static let longestWord = 64

  /// `; did you mean NAME?`, or nothing.
  public static func question(_ word: String, among candidates: [String], prefix: String = "") -> String {
    nearest(to: word, among: candidates).map { "; did you mean \(prefix)\($0)?" } ?? ""
  }

  /// The candidate nearest to `word`, unless every one is too far to be a slip of the keyboard.
  public static func nearest(to word: String, among candidates: [String]) -> String? {
    let tolerance = max(1, min(3, word.utf8.count / 3))
    // As many letters as the lengths differ by have to be put in at least.
    let scored = candidates.filter { abs($0.utf8.count - word.utf8.count) <= tolerance }.map {
      (name: $0, distance: distance(word, $0))
    }
    if let best = scored.min(by: { $0.distance < $1.distance }), best.distance <= tolerance {
      return best.name
    }
    let beginning = candidates.filter { !word.isEmpty && $0.hasPrefix(word) }
    return beginning.count == 1 ? beginning.first : nil
  }

  /// How many letters must be put in, taken out, changed or swapped with their neighbour (optimal string alignment).
  public static func distance(_ left: String, _ right: String) -> Int {
    let left = Array(left.utf8.prefix(longestWord))
    let right = Array(right.utf8.prefix(longestWord))
    guard !left.isEmpty, !right.isEmpty else { return max(left.count, right.count) }
    var beforeLast: [Int] = []
    var last = Array(0...right.count)
    for row in 1...left.count {
      var current = [row]
      for column in 1...right.count {
        let change = left[row - 1] == right[column - 1] ? 0 : 1
        var best = min(last[column] + 1, current[column - 1] + 1, last[column - 1] + change)
        if row > 1, column > 1, left[row - 1] == right[column - 2], left[row - 2] == right[column - 1] {
          best = min(best, beforeLast[column - 2] + 1)
        }
        current.append(best)
      }
      (beforeLast, last) = (last, current)
    }
    return last[right.count]
  }
}
