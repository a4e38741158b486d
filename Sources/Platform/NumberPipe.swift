import CLibrary

/// A pipe for whole numbers between threads; reading waits on a descriptor, so that a loop can watch it.
public struct NumberPipe: Sendable {
  public let reader: Int32
  public let writer: Int32

  /// nil if the system has no descriptors left.
  public init?() {
    guard let ends = DescriptorCalls.pipe() else { return nil }
    (reader, writer) = ends
  }

  /// Puts a number in; waits if the pipe is full.
  public func send(_ number: Int) {
    var number = number
    _ = unsafe write(writer, &number, MemoryLayout<Int>.size)
  }

  /// Takes the next number out, waiting for it; nil at the end.
  public func receive() -> Int? {
    var number = 0
    return unsafe read(reader, &number, MemoryLayout<Int>.size) == MemoryLayout<Int>.size ? number : nil
  }

  /// Takes the next number out; nil if none comes within `milliseconds`.
  public func receive(within milliseconds: Int32) -> Int? {
    DescriptorCalls.poll(reader, for: Int32(POLLIN), within: milliseconds) != 0 ? receive() : nil
  }

  public func close() {
    _ = CLibrary.close(reader)
    _ = CLibrary.close(writer)
  }
}

/// A pipe to or from a program, closed with this value. The program gets only what it is given of it (`Spawn.give`).
struct PipeEnds: ~Copyable {
  /// -1 once closed.
  private(set) var reader: Int32
  private(set) var writer: Int32

  /// `program` is what it is for.
  init(for program: String) throws(SocketError) {
    guard let ends = DescriptorCalls.pipe() else { throw SocketError.last("open a pipe for", program) }
    (reader, writer) = ends
    for end in [reader, writer] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
  }

  mutating func closeReader() { Self.close(&reader) }
  mutating func closeWriter() { Self.close(&writer) }

  private static func close(_ end: inout Int32) {
    if end >= 0 { _ = CLibrary.close(end) }
    end = -1
  }

  deinit {
    for end in [reader, writer] where end >= 0 { _ = CLibrary.close(end) }
  }
}
