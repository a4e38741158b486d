import Basics

/// Addresses that a payload has beside `aps`, where a service extension looks for what it is to fetch.
struct PayloadAddresses: Sendable {
  private var all: [String: String] = [:]

  /// Most that are remembered of a payload, as a count, and how deep they are looked for (our choice).
  private static let (most, depth) = (8, 4)

  init() {}

  init(_ payload: JSONValue) { collect(payload, "", depth: 0) }

  /// By its place, as `fcm_options.image`.
  subscript(place: String) -> String? { all[place] }

  private mutating func collect(_ value: JSONValue, _ place: String, depth: Int) {
    switch value {
    case .object(let members) where depth < Self.depth:
      for (name, value) in members where depth > 0 || name != "aps" {
        collect(value, depth == 0 ? name : "\(place).\(name)", depth: depth + 1)
      }
    case .string(let text) where all.count < Self.most && Self.isAddress(text): all[place] = text
    default: break
    }
  }

  private static func isAddress(_ text: String) -> Bool {
    text.hasPrefix("https://") || text.hasPrefix("http://")
  }
}

/// A file that a service extension fetches from an address in the payload. How large it is and how long that takes is set: nothing
/// goes over a network.
package struct ExtensionDownload: Sendable, Equatable {
  /// Where in the payload the address stands, as `fcm_options.image`.
  package var from = ""
  package var bytes: Int64 = 0
  /// nil for a network that takes no time.
  package var bytesPerSecond: Int64?
  package var fails = false

  /// In seconds.
  var duration: Double { bytesPerSecond.map { Double(bytes) / Double($0) } ?? 0 }

  /// What is attached; its name and its type are the address's. nil if it fails, or where there is no address.
  func attachment(_ addresses: PayloadAddresses) -> Attachment? {
    guard !fails, let address = addresses[from] else { return nil }
    let path = address.prefix { $0 != "?" && $0 != "#" }
    let file = path.split(separator: "/").dropFirst(2).last ?? ""
    let parts = file.split(separator: ".")
    return Attachment(
      name: String(parts.first ?? file), type: parts.count > 1 ? String(parts[parts.count - 1]) : "",
      bytes: bytes)
  }
}

extension ExtensionDownload: JSONDocument {
  package static let form = JSONForm<ExtensionDownload>([
    JSONField("from", .text, \.from).needed,
    JSONField("bytes", .whole(0...1_000_000_000_000), \.bytes),
    JSONField("bytesPerSecond", .whole(1...1_000_000_000_000), \.bytesPerSecond),
    JSONField(flag: "fails", \.fails),
  ])
}
