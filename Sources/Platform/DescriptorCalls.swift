import Basics
import CLibrary

/// Calls of the system on descriptors, with what they move in arrays and spans: nobody else hands it memory to read into or write from.
enum DescriptorCalls {
  /// Opens what is at a path; -1 for a failure. Programs that are started inherit it only if told so.
  static func open(
    _ path: String, _ flags: Int32, _ permissions: FileMode = 0, isInherited: Bool = false
  ) -> Int32 {
    unsafe CLibrary.open(path, isInherited ? flags : flags | O_CLOEXEC, permissions)
  }

  /// Reads on into `room`; answers how many bytes there were, 0 at the end, -1 for a failure.
  static func read(_ descriptor: Int32, into room: inout MutableSpan<UInt8>) -> Int {
    unsafe room.withUnsafeMutableBytes { unsafe CLibrary.read(descriptor, $0.baseAddress, $0.count) }
  }

  /// The same into a whole array.
  static func read(_ descriptor: Int32, into room: inout [UInt8]) -> Int {
    var span = room.mutableSpan
    return read(descriptor, into: &span)
  }

  /// Writes as much as is taken; answers how many bytes that is, -1 for a failure.
  static func write(_ descriptor: Int32, _ bytes: Span<UInt8>) -> Int {
    unsafe bytes.withUnsafeBytes { unsafe CLibrary.write(descriptor, $0.baseAddress, $0.count) }
  }

  /// Waits until one of them is ready, at most so many milliseconds, or for ever if that is negative; answers how many are.
  static func poll(_ waiting: inout [pollfd], within milliseconds: Int32) -> Int32 {
    unsafe CLibrary.poll(&waiting, nfds_t(waiting.count), milliseconds)
  }

  /// The same for one of them: what has happened, 0 for nothing.
  static func poll(_ descriptor: Int32, for events: Int32, within milliseconds: Int32) -> Int16 {
    var waiting = [pollfd(fd: descriptor, events: Int16(events), revents: 0)]
    return poll(&waiting, within: milliseconds) > 0 ? waiting[0].revents : 0
  }

  /// The reading and the writing end of a new pipe; nil if the system has no descriptors left.
  static func pipe() -> (reader: Int32, writer: Int32)? {
    var ends: [Int32] = [-1, -1]
    return unsafe CLibrary.pipe(&ends) == 0 ? (ends[0], ends[1]) : nil
  }
}
