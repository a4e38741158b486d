import Capture
import Platform
import PushModel

/// What `replay` is told.
struct ReplayOptions {
  enum Form: String, CaseIterable, Sendable { case legacy, http2 }

  /// A factor of the recorded pace, or as fast as it goes.
  enum Speed: Equatable, Sendable {
    case factor(Double)
    case maximum

    init?(_ text: String) {
      if text == "max" {
        self = .maximum
      } else {
        let digits = text.hasSuffix("x") ? text.dropLast() : Substring(text)
        guard let factor = Double(digits), factor > 0, factor <= 1e6 else { return nil }
        self = .factor(factor)
      }
    }
  }

  var files: [String]
  var speed = Speed.factor(1)
  var form: Form?
  var target: SocketAddress?
  var mapping = ReplayMapping()
  var isJSON = false
  /// How many differences are told one by one, as a count: a capture of a million pushes can have as many.
  var differencesShown = 100

  func address(_ form: Form, _ emulator: RunningEmulator) throws -> SocketAddress {
    try target ?? emulator.address(form == .legacy ? "gateway" : "provider")
  }
}

extension ValueKind where Value == ReplayOptions.Speed {
  static let speed = ValueKind("X|max", expects: "a factor such as 1, 0.5 or 10, or max") {
    ReplayOptions.Speed($0)
  }
}

extension ValueKind where Value == Int {
  static let countOrAll = ValueKind("N|all", expects: "a number from 0 to 1000000000, or all") { text in
    text == "all" ? .max : Int(text).flatMap { (0...1_000_000_000).contains($0) ? $0 : nil }
  }
}
