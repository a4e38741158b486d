/// Where provider traffic is recorded, and how much of it is kept.
public struct CaptureOptions: Sendable, Equatable {
  /// Default of `--capture-keep`, as a count.
  public static let defaultKept = 8

  public var path: String
  /// Size at which FILE becomes FILE.1 and a new one is begun, in bytes; nil for never.
  public var rotatesAt: Int?
  /// How many rotated files are kept.
  public var kept = defaultKept

  public init(path: String) { self.path = path }
}
