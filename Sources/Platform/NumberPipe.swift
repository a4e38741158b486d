import CLibrary

/// A pipe for whole numbers between threads; reading waits on a descriptor, so that a loop can watch it.
public struct NumberPipe: Sendable {
  public let reader: Int32
  public let writer: Int32

  /// nil if the system has no descriptors left.
  public init?() {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { return nil }
    (reader, writer) = (ends[0], ends[1])
  }

  /// Puts a number in; waits if the pipe is full.
  public func send(_ number: Int) {
    var number = number
    _ = write(writer, &number, MemoryLayout<Int>.size)
  }

  /// Takes the next number out, waiting for it; nil at the end.
  public func receive() -> Int? {
    var number = 0
    return read(reader, &number, MemoryLayout<Int>.size) == MemoryLayout<Int>.size ? number : nil
  }

  /// Takes the next number out; nil if none comes within `milliseconds`.
  public func receive(within milliseconds: Int32) -> Int? {
    var waiting = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
    return poll(&waiting, 1, milliseconds) > 0 ? receive() : nil
  }

  public func close() {
    _ = CLibrary.close(reader)
    _ = CLibrary.close(writer)
  }
}
