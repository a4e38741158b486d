import PushModel

/// A file that a service extension, or a local notification, attaches.
package struct Attachment: Sendable, Equatable {
  /// As the phone shows it.
  package var name = ""
  /// The suffix of its file, which says what it is.
  package var type = ""
  /// How large it is, in bytes.
  package var bytes: Int64 = 0

  /// What media of a kind may weigh, in bytes (`Documentation/device-behaviour.md#service-extension`).
  private static let limits: [(types: [String], most: Int64)] = [
    (["aiff", "aif", "wav", "mp3", "m4a"], 5_000_000), (["jpeg", "jpg", "gif", "png"], 10_000_000),
    (["mpeg", "mpg", "m2v", "mp4", "avi"], 50_000_000),
  ]

  /// Whether iOS takes it.
  var isValid: Bool {
    Self.limits.contains { $0.types.contains(type.lowercased()) && bytes <= $0.most }
  }
}

extension Attachment: JSONDocument {
  package static let form = JSONForm<Attachment>([
    JSONField("name", .text, \.name).needed, JSONField("type", .text, \.type).needed,
    JSONField("bytes", .whole(0...1_000_000_000_000), \.bytes),
  ])
}
