/// The variables that this process was started with.
public enum ProcessEnvironment {
  public static var variables: [String: String] {
    var result: [String: String] = [:]
    var entry = environ
    while let text = entry.pointee {
      let parts = String(cString: text).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if parts.count == 2 { result[String(parts[0])] = String(parts[1]) }
      entry += 1
    }
    return result
  }

  /// Sets a variable for this process and its children.
  public static func set(_ name: String, _ value: String) { setenv(name, value, 1) }
}
