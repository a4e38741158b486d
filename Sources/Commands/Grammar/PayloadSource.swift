/// Where the payload of a push comes from.
enum PayloadSource: Equatable, Sendable {
  case text(String)
  /// `-` is standard input.
  case file(String)

  init?(_ text: String) {
    guard text.hasPrefix("@") else {
      self = .text(text)
      return
    }
    guard text.utf8.count > 1 else { return nil }
    self = .file(String(text.dropFirst()))
  }
}
