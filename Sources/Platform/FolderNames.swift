import CLibrary

/// The names in a folder.
public enum FolderNames {
  /// All that `isWanted` says yes to but the folder itself and the one above, in no order; at most so many. Empty where there is no
  /// folder.
  public static func read(
    _ path: String, atMost limit: Int = .max, where isWanted: (String) -> Bool = { _ in true }
  ) -> [String] {
    guard let folder = unsafe opendir(path) else { return [] }
    defer { unsafe closedir(folder) }
    var names: [String] = []
    while names.count < limit, let entry = unsafe readdir(folder) {
      let name = unsafe name(of: entry)
      if name != ".", name != "..", isWanted(name) { names.append(name) }
    }
    return names
  }

  /// Read in place: an entry is shorter in memory than its type says, so that a copy of the whole would read beyond it.
  private static func name(of entry: UnsafeMutablePointer<dirent>) -> String {
    guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { return "" }
    let start = unsafe UnsafeRawPointer(entry) + offset
    return unsafe String(cString: start.assumingMemoryBound(to: CChar.self))
  }
}
