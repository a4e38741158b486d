import PushModel

/// Kinds that any program has.
extension ValueKind where Value == Bool {
  /// A flag that needs no value; in the environment and in files it is spelt out.
  static let toggle = ValueKind("", expects: "true or false", completion: .toggle) { text in
    switch text.lowercased() {
    case "true", "yes", "on", "1": true
    case "false", "no", "off", "0": false
    default: nil
    }
  }
}

extension ValueKind where Value == String {
  static func text(_ placeholder: String) -> ValueKind {
    ValueKind(placeholder, expects: "a text that is not empty") { $0.isEmpty ? nil : $0 }
  }

  static let file = ValueKind("FILE", expects: "the path of a file", completion: .file) {
    $0.isEmpty ? nil : $0
  }

  static let folder = ValueKind("DIR", expects: "the path of a folder", completion: .folder) {
    $0.isEmpty ? nil : $0
  }

  static let address = ValueKind("ADDR", expects: "an IP address or host name without a port") { text in
    let isPlain = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "/") }
    return text.isEmpty || !isPlain ? nil : text
  }
}

extension ValueKind where Value: FixedWidthInteger {
  /// A decimal number in `range`.
  static func number(_ placeholder: String = "N", _ range: ClosedRange<Value>) -> ValueKind {
    ValueKind(placeholder, expects: "a number from \(range.lowerBound) to \(range.upperBound)") { text in
      Value(text).flatMap { range.contains($0) ? $0 : nil }
    }
  }
}

extension ValueKind where Value == Int {
  /// So many bytes, in units of 1024.
  static let byteSize = ValueKind("SIZE", expects: "a size such as 500M, 1G or a number of bytes") { text in
    let units: [Character: Int] = ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30]
    let unit = text.last.flatMap { units[Character($0.uppercased())] }
    guard let count = Int(unit == nil ? text : String(text.dropLast())), count > 0 else { return nil }
    let (size, overflow) = count.multipliedReportingOverflow(by: unit ?? 1)
    return overflow ? nil : size
  }
}

extension ValueKind where Value == Int {
  /// A size of so many bytes or more; `text` says the same for people.
  static func byteSize(from least: Int, _ text: String) -> ValueKind {
    ValueKind("SIZE", expects: "a size such as 512M or 1G, at least \(text)") {
      byteSize.parse($0).flatMap { $0 >= least ? $0 : nil }
    }
  }
}

extension ValueKind where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
  /// One of the words that the type lists.
  static var word: ValueKind {
    let words = Value.allCases.map(\.rawValue)
    return ValueKind(
      words.joined(separator: "|"), expects: WordList.sentence(words), completion: .words(words)
    ) { Value(rawValue: $0) }
  }
}

extension ValueKind where Value == Interval {
  /// A length of time; a bare number is seconds.
  static let interval = ValueKind("SECONDS", expects: "a time such as 30, 1.5s, 500ms or 2m") {
    Interval($0)
  }
}

extension ValueKind where Value == ClosedRange<Int> {
  /// One number, or the first and last of several.
  static func span(_ placeholder: String, within limits: ClosedRange<Int>) -> ValueKind {
    let expectation = "two numbers such as \(limits.lowerBound)..\(limits.upperBound), or one"
    return ValueKind(placeholder, expects: expectation) { text in
      let halves = text.split(separator: ".", omittingEmptySubsequences: true)
      let dots = text.utf8.count { $0 == UInt8(ascii: ".") }
      guard let first = halves.first.flatMap({ Int($0) }), let last = halves.last.flatMap({ Int($0) }),
        dots == (halves.count - 1) * 2, halves.count <= 2, first <= last,
        limits.contains(first), limits.contains(last)
      else { return nil }
      return first...last
    }
  }
}
