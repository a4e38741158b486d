import Transport

/// What is told of deliveries (`serve --on-delivery`; `Documentation/hooks.md`).
package enum HookTarget: Equatable, Sendable {
  /// For `/bin/sh`, which gets the delivery on standard input.
  case command(String)
  /// Gets it as the body of a `POST`.
  case url(WebAddress)

  /// A URL if it begins like one, else a command. nil for a URL that is none, and for nothing.
  package init?(_ text: String) {
    if WebAddress.isMeant(by: text) {
      guard let url = WebAddress(text) else { return nil }
      self = .url(url)
    } else {
      guard text.contains(where: { !$0.isWhitespace }), !text.utf8.contains(0) else { return nil }
      self = .command(text)
    }
  }

  /// For log and metrics: what may be secret is left out, as the path of a URL and all but a command's first word.
  package var label: String {
    switch self {
    case .url(let url): "\(url.isSecure ? "https" : "http")://\(url.authority)"
    case .command(let text):
      text.split(whereSeparator: \.isWhitespace).first.map { String($0.prefix(100)) } ?? ""
    }
  }
}

/// What came of one try.
package enum HookOutcome {
  case done
  /// A lower-case sentence, and whether the same may go well another time.
  case failed(String, isWorthRetrying: Bool)

  /// A web server's answer: what it calls its own failure, or too much at once, is worth another try.
  package init(status: Int) {
    switch status {
    case 200..<300: self = .done
    default:
      let retries = status >= 500 || status == 408 || status == 429
      self = .failed("the answer was \(status)", isWorthRetrying: retries)
    }
  }
}
