/// A format of Localizable strings, as `loc-key` names it: `%@` takes the next argument, `%2$@` the second, `%%` is a percent
/// sign. An argument that is missing leaves its place as it is.
package enum LocalizedFormat {
  package static func fill(_ format: String, with arguments: [String]) -> String {
    var result = ""
    var rest = format[...]
    var next = 0
    while let percent = rest.firstIndex(of: "%") {
      result += rest[..<percent]
      rest = rest[percent...]
      let (text, count) = place(rest, arguments, &next)
      result += text
      rest = rest.dropFirst(count)
    }
    return result + rest
  }

  /// How many arguments it asks for.
  package static func count(in format: String) -> Int {
    var most = 0
    var plain = 0
    var rest = format[...]
    while let percent = rest.firstIndex(of: "%") {
      let specification = Specification(rest[percent...])
      if case .next? = specification?.place { plain += 1 }
      if case .numbered(let number)? = specification?.place { most = max(most, number) }
      rest = rest[percent...].dropFirst(specification?.length ?? 1)
    }
    return max(most, plain)
  }

  /// The text for what stands at the beginning of `rest`, and how many characters that is.
  private static func place(_ rest: Substring, _ arguments: [String], _ next: inout Int) -> (String, Int) {
    guard let found = Specification(rest) else { return ("%", 1) }
    let whole = String(rest.prefix(found.length))
    switch found.place {
    case .percent: return ("%", found.length)
    case .next:
      defer { next += 1 }
      return (next < arguments.count ? arguments[next] : whole, found.length)
    case .numbered(let number):
      return (number <= arguments.count ? arguments[number - 1] : whole, found.length)
    }
  }

  private struct Specification {
    enum Place {
      case percent, next
      case numbered(Int)
    }

    let place: Place
    let length: Int

    /// What begins with a percent sign; nil if it is none of ours.
    init?(_ text: Substring) {
      let after = text.dropFirst()
      if after.hasPrefix("%") {
        (place, length) = (.percent, 2)
      } else if after.hasPrefix("@") {
        (place, length) = (.next, 2)
      } else {
        let digits = after.prefix { $0.isASCII && $0.isNumber }
        guard after.dropFirst(digits.count).hasPrefix("$@"), let number = Int(digits), number > 0 else {
          return nil
        }
        (place, length) = (.numbered(number), digits.count + 3)
      }
    }
  }
}
