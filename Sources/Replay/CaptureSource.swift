import Basics
import Capture
import Platform

/// Reads capture files one after the other, a piece at a time, each as far as it went at the start: it may be the one that
/// the emulator adds this very replay to. `-` is standard input.
package final class CaptureSource {
  /// Bytes read at a time.
  private static let piece = 128 << 10

  /// Where a plain file ended when it was looked at.
  private struct Extent {
    let file: FileStatus.Identity
    let end: Int

    /// nil for what has no size, as a pipe that ends when its writer does, and for what can't be looked at.
    init?(_ status: FileStatus?) {
      guard let status, status.kind == .plain else { return nil }
      (file, end) = (status.identity, status.size)
    }
  }

  private let files: [String]
  private let leavesTogether: Bool
  private let warn: (String) -> Void
  private let extents: [Extent?]
  private var input: OpenFile?
  /// Bytes of the open file that are still to be read.
  private var left = Int.max
  private var reader = CaptureReader()
  private var buffer = [UInt8](repeating: 0, count: piece)
  /// The file that the last batch came from, counted from 0.
  private(set) var fileIndex = -1
  /// Bytes read so far, and of all files; the latter 0 where that can't be told.
  private(set) var bytesRead = 0
  let size: Int

  /// `leavesTogether` is as in `CaptureReader`; `warn` is called with what is left out.
  package init(_ files: [String], leavesTogether: Bool = false, warn: @escaping (String) -> Void) {
    (self.files, self.leavesTogether, self.warn) = (files, leavesTogether, warn)
    extents = files.map { Extent($0 == "-" ? .ofStandardInput : FileStatus($0)) }
    size = extents.reduce(0) { $0 + ($1?.end ?? 0) }
  }

  /// Fills the batch with the next lines; false at the end of the last file.
  package func next(_ batch: inout CaptureBatch) throws -> Bool {
    batch.removeAll()
    while batch.entries.isEmpty {
      if input == nil {
        guard fileIndex + 1 < files.count else { return false }
        fileIndex += 1
        try open()
      }
      guard let count = read(into: &buffer), count >= 0 else { throw SocketError.last("read", file) }
      bytesRead += count
      left -= count
      try naming {
        if count == 0 {
          try endFile()
        } else {
          let piece = buffer
          try reader.receive(piece.span.prefix(count), into: &batch)
        }
      }
    }
    return true
  }

  /// Reads the next bytes of the open file.
  private func read(into buffer: inout [UInt8]) -> Int? {
    var room = buffer.mutableSpan
    var wanted = room._mutatingExtracting(first: left)
    return input?.read(into: &wanted)
  }

  private var file: String { files[fileIndex] }

  private func open() throws {
    reader = CaptureReader(leavesTogether: leavesTogether)
    let opened = try OpenFile(reading: file)
    left = remaining(opened)
    input = consume opened
  }

  /// How far to read the file that was just opened. One that came into its place since, by rotation, is taken as it is.
  private func remaining(_ opened: borrowing OpenFile) -> Int {
    guard let now = Extent(opened.status) else { return .max }
    let start = extents[fileIndex]
    let end = start?.file == now.file ? start?.end ?? now.end : now.end
    return max(0, end - opened.position)
  }

  private func endFile() throws(CaptureError) {
    input = nil
    try reader.finish()
    if reader.endedTorn { warn("\(file): the last line is incomplete and was left out") }
  }

  private func naming(_ body: () throws -> Void) throws {
    do { try body() } catch let error as CaptureError { throw ReplayFailure.sentence("\(file), \(error)") }
  }
}
