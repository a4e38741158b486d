import Capture
import Platform

/// Reads capture files one after the other, a piece at a time. `-` is standard input.
final class CaptureSource {
  /// Bytes read at a time.
  private static let piece = 128 << 10

  private let files: [String]
  private let leavesTogether: Bool
  private var descriptor: Int32 = -1
  private var reader = CaptureReader()
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: piece, alignment: 16)
  /// The file that the last batch came from, counted from 0.
  private(set) var fileIndex = -1
  /// Bytes read so far, and of all files; the latter 0 where that can't be told.
  private(set) var bytesRead = 0
  let size: Int

  /// `leavesTogether` is as in `CaptureReader`.
  init(_ files: [String], leavesTogether: Bool = false) {
    (self.files, self.leavesTogether) = (files, leavesTogether)
    size = files.reduce(0) { sum, path in
      var status = stat()
      return stat(path, &status) == 0 ? sum + Int(status.st_size) : sum
    }
  }

  deinit {
    if descriptor > 0 { close(descriptor) }
    buffer.deallocate()
  }

  /// Fills the batch with the next lines; false at the end of the last file.
  func next(_ batch: CaptureBatch) throws -> Bool {
    batch.removeAll()
    while batch.entries.isEmpty {
      if descriptor < 0 {
        guard fileIndex + 1 < files.count else { return false }
        fileIndex += 1
        try open()
      }
      let count = read(descriptor, buffer.baseAddress, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw SocketError.last("read", file) }
      bytesRead += count
      try naming {
        if count == 0 {
          try endFile()
        } else {
          try reader.receive(UnsafeRawBufferPointer(rebasing: buffer[..<count]), into: batch)
        }
      }
    }
    return true
  }

  private var file: String { files[fileIndex] }

  private func open() throws {
    reader = CaptureReader(leavesTogether: leavesTogether)
    descriptor = file == "-" ? dup(STDIN_FILENO) : Platform.open(file, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw SocketError.last("read", file) }
  }

  private func endFile() throws(CaptureError) {
    close(descriptor)
    descriptor = -1
    try reader.finish()
    if reader.endedTorn { Output.complain("\(file): its last line is torn and was left out") }
  }

  private func naming(_ body: () throws -> Void) throws {
    do { try body() } catch let error as CaptureError { throw CommandFailure("\(file), \(error)") }
  }
}
