/// A format of Localizable strings, as `loc-key` names it: `%@` takes the next argument, `%2$@` the second, `%%` is a percent
/// sign. An argument that is missing leaves its place as it is.
package enum LocalizedFormat {
  private enum Part {
    case text(Substring)
    /// The place of the next argument, and of the one with a number, as they stand in the format.
    case next(Substring)
    case numbered(Int, Substring)
  }

  package static func fill(_ format: String, with arguments: [String]) -> String {
    var rest = arguments[...]
    return parts(of: format).reduce(into: "") { result, part in
      switch part {
      case .text(let text): result += text
      case .next(let place): result += rest.popFirst() ?? String(place)
      case .numbered(let number, let place):
        result += number <= arguments.count ? arguments[number - 1] : String(place)
      }
    }
  }

  /// How many arguments it asks for.
  package static func count(in format: String) -> Int {
    var (most, plain) = (0, 0)
    for part in parts(of: format) {
      switch part {
      case .text: break
      case .next: plain += 1
      case .numbered(let number, _): most = max(most, number)
      }
    }
    return max(most, plain)
  }

  private static func parts(of format: String) -> [Part] {
    var parts: [Part] = []
    var rest = format[...]
    while let percent = rest.firstIndex(of: "%") {
      let (part, length) = specification(rest[percent...])
      parts += [.text(rest[..<percent]), part]
      rest = rest[percent...].dropFirst(length)
    }
    return parts + [.text(rest)]
  }

  /// What begins with a percent sign, and its length; the sign alone if it is none of ours.
  private static func specification(_ text: Substring) -> (Part, Int) {
    let after = text.dropFirst()
    if after.hasPrefix("%") { return (.text("%"), 2) }
    if after.hasPrefix("@") { return (.next(text.prefix(2)), 2) }
    let digits = after.prefix { $0.isASCII && $0.isNumber }
    guard after.dropFirst(digits.count).hasPrefix("$@"), let number = Int(digits), number > 0 else {
      return (.text("%"), 1)
    }
    return (.numbered(number, text.prefix(digits.count + 3)), digits.count + 3)
  }
}
