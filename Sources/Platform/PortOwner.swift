import CLibrary

/// Finds out which process listens on a port, as far as the system shows it.
public enum PortOwner {
  /// Whether somebody accepts connections there.
  public static func isTaken(_ address: SocketAddress) -> Bool {
    guard let descriptor = try? SocketCalls.connect(address) else { return false }
    defer { SocketCalls.close(descriptor) }
    let happened = DescriptorCalls.poll(descriptor, for: Int32(POLLOUT), within: longestConnect)
    return happened != 0 && SocketCalls.pendingError(descriptor) == 0
  }

  /// In milliseconds: a port of this machine answers at once.
  private static let longestConnect: Int32 = 1000

  /// `name (pid N)`; nil where the system does not tell (another user's process, or no `/proc`).
  public static func describe(port: UInt16) -> String? {
    guard let inode = listeningInode(port) else { return nil }
    for pid in FolderNames.read("/proc").compactMap({ Int32($0) }) where holds(pid, inode) {
      return "\(name(pid)) (pid \(pid))"
    }
    return nil
  }

  /// Lines of `/proc/net/tcp`: `sl local remote st … inode`; 0A is LISTEN.
  private static func listeningInode(_ port: UInt16) -> String? {
    for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
      guard let bytes = try? TextFile.read(table) else { continue }
      for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
        let fields = line.split(separator: " ").map(String.init)
        if fields.count > 9, UInt16(fields[1].suffix(4), radix: 16) == port, fields[3] == "0A" {
          return fields[9]
        }
      }
    }
    return nil
  }

  private static func holds(_ pid: Int32, _ inode: String) -> Bool {
    let folder = "/proc/\(pid)/fd"
    return FolderNames.read(folder).contains { String(linkAt: "\(folder)/\($0)") == "socket:[\(inode)]" }
  }

  private static func name(_ pid: Int32) -> String {
    let bytes = (try? TextFile.read("/proc/\(pid)/comm")) ?? []
    return String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
  }
}
