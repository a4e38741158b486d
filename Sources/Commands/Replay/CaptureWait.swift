import Basics
import Platform

/// A capture that is still being written. A thread of the emulator writes it, so a push that was answered is in the file a
/// moment later: who reads the file waits for what was recorded by then.
struct CaptureWait {
  /// How long the emulator may take for an answer, and for what it has recorded, in nanoseconds.
  private static let answerTime: Int64 = 2_000_000_000
  private static let timeout: Int64 = 10_000_000_000

  private let emulator: RunningEmulator
  private let files: [FileStatus.Identity]

  /// Waits until the running emulator, if there is one and it records into one of the files, has written what it has recorded.
  static func wait(for files: [String], of emulator: RunningEmulator?) {
    guard let emulator else { return }
    let wait = CaptureWait(emulator: emulator, files: files.compactMap { FileStatus($0)?.identity })
    guard let start = wait.progress, start.written < start.recorded else { return }
    // An emulator that has ended meanwhile has written all.
    var written = start.written
    let isWritten = Waiting.until(nanoseconds: timeout) {
      written = wait.progress?.written ?? start.recorded
      return written >= start.recorded
    }
    guard !isWritten else { return }
    Output.complain(
      "\(start.recorded - written) pushes are left out: the emulator has recorded them, and has not written them to the "
        + "file after \(timeout / 1_000_000_000) s")
  }

  /// How many pushes the running emulator has recorded and written; nil if none runs, or it records elsewhere.
  private var progress: (recorded: Int64, written: Int64)? {
    guard !files.isEmpty, let info = try? emulator.document("/api/v1/info", timeout: Self.answerTime),
      let capture = info["capture"], let path = capture.string("file"),
      let named = FileStatus(path)?.identity,
      files.contains(named), let recorded = capture["recorded"]?.integer,
      let written = capture["written"]?.integer
    else { return nil }
    return (recorded, written)
  }
}
