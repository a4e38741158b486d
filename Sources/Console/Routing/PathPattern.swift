/// A path with named parts: `/api/v1/devices/{udid}`. A last part `{name*}` takes all that is left.
package struct PathPattern {
  private enum Part {
    case fixed(String)
    case named(String)
    case rest(String)
  }

  package let text: String
  private let parts: [Part]

  package init(_ text: String) {
    self.text = text
    parts = text.split(separator: "/").map { part in
      guard part.hasPrefix("{"), part.hasSuffix("}") else { return .fixed(String(part)) }
      let name = part.dropFirst().dropLast()
      return name.hasSuffix("*") ? .rest(String(name.dropLast())) : .named(String(name))
    }
  }

  /// Names of the parts in braces, in order.
  package var names: [String] {
    parts.compactMap {
      switch $0 {
      case .fixed: nil
      case .named(let name), .rest(let name): name
      }
    }
  }

  /// The values of the named parts if the path matches; nil if it does not.
  package func match(_ segments: [String]) -> [String: String]? {
    var values: [String: String] = [:]
    for (index, part) in parts.enumerated() {
      if case .rest(let name) = part {
        values[name] = segments[min(index, segments.count)...].joined(separator: "/")
        return values
      }
      guard index < segments.count else { return nil }
      switch part {
      case .fixed(let text): guard text == segments[index] else { return nil }
      case .named(let name): values[name] = segments[index]
      case .rest: break
      }
    }
    return segments.count == parts.count ? values : nil
  }
}
