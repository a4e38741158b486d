import Capture
import Platform

/// Reads capture files one after the other, a piece at a time, each as far as it went at the start: it may be the one that
/// the emulator adds this very replay to. `-` is standard input.
final class CaptureSource {
  /// Bytes read at a time.
  private static let piece = 128 << 10

  /// Where a plain file ended when it was looked at.
  private struct Extent {
    let device: dev_t
    let inode: ino_t
    let end: Int

    /// nil for what has no size: a pipe ends when its writer does.
    init?(_ status: stat) {
      guard status.st_mode & S_IFMT == S_IFREG else { return nil }
      (device, inode, end) = (status.st_dev, status.st_ino, Int(status.st_size))
    }

    /// The file of a path, or standard input; nil if it can't be looked at either.
    init?(path: String) {
      var status = stat()
      guard (path == "-" ? fstat(STDIN_FILENO, &status) : stat(path, &status)) == 0 else { return nil }
      self.init(status)
    }
  }

  private let files: [String]
  private let leavesTogether: Bool
  private let extents: [Extent?]
  private var descriptor: Int32 = -1
  /// Bytes of the open file that are still to be read.
  private var left = Int.max
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
    extents = files.map { Extent(path: $0) }
    size = extents.reduce(0) { $0 + ($1?.end ?? 0) }
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
      let count = read(descriptor, buffer.baseAddress, min(buffer.count, left))
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw SocketError.last("read", file) }
      bytesRead += count
      left -= count
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
    left = remaining()
  }

  /// How far to read the file that was just opened. One that came into its place since, by rotation, is taken as it is.
  private func remaining() -> Int {
    var status = stat()
    guard fstat(descriptor, &status) == 0, let now = Extent(status) else { return .max }
    let start = extents[fileIndex]
    let isSame = start?.inode == now.inode && start?.device == now.device
    let end = isSame ? start?.end ?? now.end : now.end
    return max(0, end - max(0, Int(lseek(descriptor, 0, SEEK_CUR))))
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
