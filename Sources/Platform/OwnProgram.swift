import CLibrary

/// The program that runs now, and those in its folder.
public enum OwnProgram {
  /// Its path.
  public static var path: String {
    #if canImport(Darwin)
      var size = UInt32(4096)
      var path = [CChar](repeating: 0, count: Int(size))
      unsafe _NSGetExecutablePath(&path, &size)
      return String(characters: path)
    #else
      return String(linkAt: "/proc/self/exe") ?? ""
    #endif
  }

  /// The folder that it lies in: where a link to it leads, if it was called by one.
  public static var folder: String {
    let path = PathCalls.absolute(path) ?? path
    return String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
  }

  /// The path of another program in its folder; nil if there is none that this process may run.
  public static func beside(_ name: String) -> String? {
    let path = "\(folder)/\(name)"
    return PathCalls.isProgram(path) ? path : nil
  }

  /// Goes on as another program, in this process: status and signals are the other's. Comes back only with what kept it from that.
  public static func become(_ path: String, _ words: [String]) -> SocketError {
    var arguments = SystemWords(([path] + words).map { Array($0.utf8CString) })
    unsafe arguments.lend { _ = unsafe execv(path, $0) }
    return SocketError.last("run", path)
  }
}
