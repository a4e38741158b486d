/// Words as an English sentence lists them.
enum WordList {
  /// `a`, `a or b`, `a, b or c`.
  static func sentence(_ words: [String]) -> String {
    guard let last = words.last, words.count > 1 else { return words.first ?? "" }
    return words.dropLast().joined(separator: ", ") + " or " + last
  }
}
