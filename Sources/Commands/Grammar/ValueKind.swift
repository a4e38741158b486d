import Basics
import Cluster
import Credentials
import Emulator
import Hooks
import Platform
import PushModel
import Transport

/// What the text of a flag or argument may be, and how it becomes a value.
package struct ValueKind<Value: Sendable>: Sendable {
  /// How help names the value: `PORT`, `FILE`; a list of words shows itself. Empty for a flag without one.
  let placeholder: String
  /// Ends the sentence "--flag expects …".
  package let expectation: String
  /// What a shell may offer to complete it.
  let completion: CompletionHint
  /// The value, or nil for a text that is not one.
  package let parse: @Sendable (String) -> Value?

  init(
    _ placeholder: String, expects expectation: String, completion: CompletionHint = .none,
    parse: @escaping @Sendable (String) -> Value?
  ) {
    (self.placeholder, self.expectation, self.completion) = (placeholder, expectation, completion)
    self.parse = parse
  }
}

/// Kinds that any program has.
extension ValueKind where Value == Bool {
  /// A flag that needs no value; in the environment and in files it is spelt out.
  package static let toggle = ValueKind("", expects: "true or false", completion: .toggle) { text in
    switch text.lowercased() {
    case "true", "yes", "on", "1": true
    case "false", "no", "off", "0": false
    default: nil
    }
  }
}

extension ValueKind where Value == String {
  package static func text(_ placeholder: String) -> ValueKind {
    ValueKind(placeholder, expects: "a text that is not empty") { $0.isEmpty ? nil : $0 }
  }

  static let file = ValueKind("FILE", expects: "the path of a file", completion: .file) {
    $0.isEmpty ? nil : $0
  }

  static let folder = ValueKind("DIR", expects: "the path of a folder", completion: .folder) {
    $0.isEmpty ? nil : $0
  }

  /// It stands in a header field, a cookie and a URL as it is, and is long enough not to be tried out.
  static let accessToken = ValueKind("TOKEN", expects: "8 to 128 letters, digits and any of -._~") { text in
    let isPlain = text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-._~".contains($0)) }
    return (8...128).contains(text.count) && isPlain ? text : nil
  }

  package static let address = ValueKind("ADDR", expects: "an IP address or host name without a port") {
    text in
    let isPlain = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "/") }
    return text.isEmpty || !isPlain ? nil : text
  }
}

extension ValueKind where Value: FixedWidthInteger {
  /// A decimal number in `range`.
  package static func number(_ placeholder: String = "N", _ range: ClosedRange<Value>) -> ValueKind {
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

  /// A size of so many bytes or more; `text` says the same for people.
  static func byteSize(from least: Int, _ text: String) -> ValueKind {
    ValueKind("SIZE", expects: "a size such as 512M or 1G, at least \(text)") {
      byteSize.parse($0).flatMap { $0 >= least ? $0 : nil }
    }
  }
}

extension ValueKind {
  /// One of some words, which show themselves unless they have a placeholder.
  static func words(
    _ words: [String], _ placeholder: String? = nil, parse: @escaping @Sendable (String) -> Value?
  ) -> ValueKind {
    ValueKind(
      placeholder ?? words.joined(separator: "|"), expects: sentence(words),
      completion: .words(words), parse: parse)
  }

  /// `a`, `a or b`, `a, b or c`.
  private static func sentence(_ words: [String]) -> String {
    guard let last = words.last, words.count > 1 else { return words.first ?? "" }
    return words.dropLast().joined(separator: ", ") + " or " + last
  }
}

extension ValueKind where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
  /// One of the words that the type lists.
  package static var word: ValueKind { words(Value.allCases.map(\.rawValue)) { Value(rawValue: $0) } }
}

extension ValueKind where Value == Interval {
  /// A length of time; a bare number is seconds.
  static let interval = ValueKind("SECONDS", expects: "a time such as 30, 1.5s, 500ms or 2m") {
    Interval($0)
  }
}

extension ValueKind where Value == ClosedRange<Int> {
  /// One number, or the first and last of several.
  package static func span(_ placeholder: String, within limits: ClosedRange<Int>) -> ValueKind {
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

/// Kinds of this field.
extension ValueKind where Value == ListenerPort {
  package static let port = ValueKind("PORT", expects: "a port from 0 to 65535, or off") { text in
    text == "off" ? .off : UInt16(text).map { .number($0) }
  }
}

extension ValueKind where Value == SocketAddress {
  static let endpoint = ValueKind("HOST:PORT", expects: "a host and a port such as 127.0.0.1:2195") {
    SocketAddress($0)
  }

  /// A host for HTTPS: its port may be left out.
  package static let destination = ValueKind(
    "HOST[:PORT]", expects: "a host, or a host and a port, such as example.com or [::1]:8443"
  ) { text in
    let colons = text.utf8.count { $0 == UInt8(ascii: ":") }
    let hasPort = colons == 1 || text.contains("]:")
    guard let address = SocketAddress(hasPort ? text : "\(text):443"), address.port > 0,
      ValueKind<String>.address.parse(address.host) != nil
    else { return nil }
    return address
  }
}

extension ValueKind where Value == [NATSAddress] {
  package static let natsServers = ValueKind(
    "URL[,URL]", expects: "nats://HOST:PORT or tls://HOST:PORT, with USER:PASSWORD@ or TOKEN@ where asked for"
  ) { NATSAddress.list($0) }
}

extension ValueKind where Value == String {
  package static let node = ValueKind(
    "NAME", expects: "1 to \(ClusterOptions.nodeLimit) letters, digits, dots, dashes or underscores"
  ) { ClusterOptions.isNode($0) ? $0 : nil }

  package static let cluster = ValueKind(
    "NAME", expects: "1 to \(ClusterNames.limit) letters, digits, dashes or underscores"
  ) { ClusterNames.isName($0) ? $0 : nil }
}

extension ValueKind where Value == HookTarget {
  static let hook = ValueKind(
    "COMMAND|URL", expects: "a shell command, or a URL such as https://example.com/pushed"
  ) { HookTarget($0) }
}

extension ValueKind where Value == Environment {
  package static let environment = words(["sandbox", "production"]) { Environment(name: $0) }
}

extension ValueKind where Value == EnvironmentSet {
  package static let environments = words(["sandbox", "production", "both"]) { EnvironmentSet(name: $0) }
}

extension ValueKind where Value == Topic {
  static let topic = ValueKind("TOPIC", expects: "a bundle id such as com.example.app") { Topic($0) }
}

extension ValueKind where Value == UDID {
  static let udid = ValueKind(
    "UDID", expects: "1 to \(UDID.maximumByteCount) letters, digits, dots, dashes or underscores"
  ) { UDID($0) }
}

extension ValueKind where Value == [UInt8] {
  /// Any bytes: providers may want to see how a token of the wrong length is refused.
  static let hex = ValueKind("HEX", expects: "an even number of hexadecimal digits") { Hex.decode($0) }
}

extension ValueKind where Value == PayloadSource {
  static let payload = ValueKind("JSON|@FILE", expects: "a payload, or @ and the name of a file") {
    PayloadSource($0)
  }
}

extension ValueKind where Value == ExpirationTime {
  static let expiration = ValueKind("TIME", expects: "UNIX seconds, 0, or + and a time such as +1h") {
    ExpirationTime($0)
  }
}

/// When a push expires: a time, or so long from now.
package enum ExpirationTime: Equatable, Sendable {
  case at(UInt32)
  case after(Interval)

  package init?(_ text: String) {
    if text.hasPrefix("+") {
      guard let interval = Interval(String(text.dropFirst())) else { return nil }
      self = .after(interval)
    } else {
      guard let time = UInt32(text) else { return nil }
      self = .at(time)
    }
  }

  /// UNIX seconds, as the field of a frame holds them.
  package func seconds(from now: Timestamp) -> UInt32 {
    switch self {
    case .at(let seconds): seconds
    case .after(let interval): UInt32(clamping: now.adding(nanoseconds: interval.nanoseconds).seconds)
    }
  }
}

/// A length of time as people type it: `30` (seconds), `1.5s`, `500ms`, `2m`, `1h`.
package struct Interval: Equatable, Sendable {
  /// Longest that is taken, in seconds: a year. It keeps the nanoseconds far from their limit.
  static let longestSeconds: Double = 366 * 86400

  package let nanoseconds: Int64

  /// nil for anything else, and for a time that is negative or longer than a year.
  package init?(_ text: String) {
    let units: [(suffix: String, seconds: Double)] = [
      ("ms", 0.001), ("s", 1), ("m", 60), ("h", 3600), ("d", 86400), ("", 1),
    ]
    guard let unit = units.first(where: { text.hasSuffix($0.suffix) }) else { return nil }
    let digits = text.dropLast(unit.suffix.utf8.count)
    let isDecimal = digits.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
    guard isDecimal, let count = Double(digits), count * unit.seconds <= Self.longestSeconds else {
      return nil
    }
    nanoseconds = Int64(count * unit.seconds * 1_000_000_000)
  }

  /// Whole seconds, rounded down.
  var seconds: Int64 { nanoseconds / 1_000_000_000 }
}

/// Where the payload of a push comes from.
package enum PayloadSource: Equatable, Sendable {
  case text(String)
  /// `-` is standard input.
  case file(String)

  package init?(_ text: String) {
    guard text.hasPrefix("@") else {
      self = .text(text)
      return
    }
    guard text.utf8.count > 1 else { return nil }
    self = .file(String(text.dropFirst()))
  }
}

/// A proxy as programs are told of it: `http://user:password@host:port`.
package struct ProxyAddress: Equatable, Sendable {
  package let address: SocketAddress
  /// The value of `Proxy-Authorization`; nil without user and password.
  package let authorization: String?

  /// Reads `[http://][user[:password]@]host:port[/]`, user and password percent-encoded; nil for anything else.
  package init?(_ text: String) {
    var rest = text.lowercased().hasPrefix("http://") ? text.dropFirst("http://".count) : text[...]
    if rest.hasSuffix("/") { rest = rest.dropLast() }
    // Another scheme, or a path.
    guard !rest.contains("/") else { return nil }
    let at = rest.lastIndex(of: "@")
    let place = at.map { rest[rest.index(after: $0)...] } ?? rest
    guard let address = SocketAddress(String(place)), address.port > 0,
      ValueKind<String>.address.parse(address.host) != nil, !address.host.contains("@")
    else { return nil }
    self.address = address
    guard let at else {
      authorization = nil
      return
    }
    guard let credentials = Self.decoded(rest[..<at]) else { return nil }
    authorization = "Basic \(Base64.encode(credentials))"
  }

  /// Without its `%`, and with the colon that belongs between user and password.
  private static func decoded(_ text: Substring) -> [UInt8]? {
    guard let bytes = PercentEncoding.decode(text.utf8) else { return nil }
    return text.contains(":") ? bytes : bytes + [UInt8(ascii: ":")]
  }
}

extension ValueKind where Value == ProxyAddress {
  package static let proxy = ValueKind(
    "URL", expects: "a proxy such as http://127.0.0.1:3128 or http://user:password@host:3128"
  ) { ProxyAddress($0) }
}
