import Platform

/// Colours of a terminal (ECMA-48 8.3.117, SGR).
enum TerminalColor: Int {
  case faint = 2
  case red = 31
  case green = 32
  case yellow = 33
  case magenta = 35
  case cyan = 36

  func paint(_ text: String) -> String { "\u{1b}[\(rawValue)m\(text)\u{1b}[0m" }

  /// Whether standard output is a terminal that wants them (https://no-color.org).
  static func isWanted(_ environment: [String: String] = ProcessEnvironment.variables) -> Bool {
    isatty(STDOUT_FILENO) == 1 && environment["NO_COLOR", default: ""].isEmpty
      && environment["TERM"] != "dumb"
  }
}
