/// What the system knows about a process.
public enum ProcessStatus {
  /// Resident memory in bytes; nil where the system has no `/proc`.
  public static func residentBytes(_ pid: Int32) -> Int? {
    guard let file = fopen("/proc/\(pid)/statm", "r") else { return nil }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    guard fgets(&line, Int32(line.count), file) != nil else { return nil }
    let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    let fields = text.split(separator: " ")
    guard fields.count > 1, let pages = Int(fields[1]) else { return nil }
    return pages * Int(getpagesize())
  }
}
