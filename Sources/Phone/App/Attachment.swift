import Basics

/// A file that a service extension, or a local notification, attaches.
package struct Attachment: Sendable, Equatable {
  /// As the phone shows it.
  package var name = ""
  /// The suffix of its file, which says what it is unless `typeHint` does.
  package var type = ""
  /// How large it is, in bytes.
  package var bytes: Int64 = 0
  /// `UNNotificationAttachmentOptionsTypeHintKey`: a uniform type identifier, or a suffix.
  package var typeHint: String?
  /// `…ThumbnailHiddenKey`: it shows only when the notification is opened wide.
  package var thumbnailHidden = false
  /// `…ThumbnailClippingRectKey`, in parts of its width and height.
  package var thumbnailClipping: Area?
  /// `…ThumbnailTimeKey`: the moment of a film that stands for it, in seconds.
  package var thumbnailTime: Double?

  /// What media of a kind may weigh, in bytes (`Documentation/device-behaviour.md#service-extension`), by suffix and by uniform
  /// type identifier.
  private static let limits: [(types: [String], most: Int64)] = [
    (["aiff", "aif", "wav", "mp3", "m4a"], 5_000_000),
    (
      ["public.aiff-audio", "com.microsoft.waveform-audio", "public.mp3", "public.mpeg-4-audio"], 5_000_000
    ),
    (["jpeg", "jpg", "gif", "png", "public.jpeg", "com.compuserve.gif", "public.png"], 10_000_000),
    (["mpeg", "mpg", "m2v", "mp4", "avi"], 50_000_000),
    (["public.mpeg", "public.mpeg-2-video", "public.mpeg-4", "public.avi"], 50_000_000),
  ]

  /// Whether iOS takes it.
  var isValid: Bool {
    Self.limits.contains { $0.types.contains((typeHint ?? type).lowercased()) && bytes <= $0.most }
  }
}

extension Attachment: JSONDocument {
  package static let form = JSONForm<Attachment>([
    JSONField("name", .text, \.name).needed, JSONField("type", .text, \.type).needed,
    JSONField("bytes", .whole(0...1_000_000_000_000), \.bytes),
    JSONField("typeHint", .text, \.typeHint), JSONField(flag: "thumbnailHidden", \.thumbnailHidden),
    JSONField("thumbnailClipping", Area.kind(upTo: 1), \.thumbnailClipping),
    JSONField("thumbnailTime", .number(0...86_400), \.thumbnailTime),
  ])
}

/// A rectangle in a picture or a view.
package struct Area: Sendable, Equatable {
  var (x, y, width, height) = (0.0, 0.0, 0.0, 0.0)

  static func kind(upTo most: Double) -> JSONKind<Area> {
    let length = JSONKind<Double>.number(0...most)
    return JSONForm<Area>([
      JSONField("x", length, \.x).needed, JSONField("y", length, \.y).needed,
      JSONField("width", length, \.width).needed, JSONField("height", length, \.height).needed,
    ]).kind(Area())
  }
}
