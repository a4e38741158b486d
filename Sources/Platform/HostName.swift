import CLibrary

/// What this machine calls itself.
public enum HostName {
  /// Longest name (RFC 1035 2.3.4), in bytes, and its end.
  private static let limit = 256

  /// Empty if the system has none.
  public static var own: String {
    var name = [CChar](repeating: 0, count: limit)
    guard unsafe gethostname(&name, limit - 1) == 0 else { return "" }
    return String(characters: name)
  }
}
