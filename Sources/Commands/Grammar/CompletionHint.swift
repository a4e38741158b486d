/// What a shell may offer for a value.
enum CompletionHint: Equatable, Sendable {
  case none, file, folder, toggle
  case words([String])
}
