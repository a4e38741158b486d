import Basics
import Broker
import Capture
import Foundation
import LegacyWire
import PushModel
import Recorder
import Services
import TestSupport
import Testing

@Suite("What a capture has of pushes that somebody else decides about")
struct CaptureRecorderTests {
  /// More than the recorder leaves unseen at a time.
  private static let count = 2000
  /// Token and payload as the oldest command has them, between the lengths.
  private static let frame: [UInt8] =
    [0, 0, 32] + [UInt8](repeating: 7, count: 32) + [0, 2] + Array("{}".utf8)

  private let folder = ScratchFolder()
  private let broker = Broker(derivation: FakeDerivation())

  private func makeRecorder() throws -> CaptureRecorder {
    let logger = try Logger(LogOptions(file: "/dev/null"), clock: EmulatorClock())
    let recorder = CaptureRecorder(
      CaptureOptions(path: folder.file("capture.jsonl")), broker: broker, logger: logger,
      limits: LegacyLimits(), environment: .sandbox)
    #expect(!FileManager.default.fileExists(atPath: folder.file("capture.jsonl")))
    try recorder.start()
    return recorder
  }

  /// A push of the gateway has come.
  private func come(on connection: UInt32) -> UInt64 {
    Self.frame.withUnsafeBytes { frame in
      var push = PlainSubmission(
        interface: .gateway, topic: nil, environment: .sandbox,
        token: frame.span.extracting(3..<35),
        payload: frame.span.extracting(37...))
      push.frame = frame.span
      push.connection = connection
      return broker.history.beginElsewhere(push, nil, now: Timestamp(seconds: 1_700_000_000))
    }
  }

  /// One that goes elsewhere.
  private func begin(on connection: UInt32, _ recorder: CaptureRecorder) -> UInt64 {
    let id = come(on: connection)
    recorder.awaits(id)
    return id
  }

  /// The turn ends.
  private func commit(_ recorder: CaptureRecorder) {
    recorder.commitBegins()
    recorder.commitEnded()
  }

  private func recorded() throws -> Int {
    let bytes = try Data(contentsOf: URL(filePath: folder.file("capture.jsonl")))
    var batch = CaptureBatch()
    var reader = CaptureReader()
    try reader.receive(Array(bytes).span, into: &batch)
    return batch.entries.count { $0.kind == .frame }
  }

  @Test("each is there once, when its verdict is, however many come in a turn")
  func once() throws {
    let recorder = try makeRecorder()
    let connection: UInt32 = 1
    recorder.connectionOpened(connection, .gateway, .sandbox, topic: nil)
    let ids = (0..<Self.count).map { _ in begin(on: connection, recorder) }
    for id in ids[..<10] { recorder.decided(id, isRecorded: true) }
    commit(recorder)
    for id in ids[10..<500] { recorder.decided(id, isRecorded: true) }
    // Their providers send them again.
    for id in ids[500..<600] { recorder.decided(id, isRecorded: false) }
    commit(recorder)
    recorder.finish()
    #expect(try recorded() == 500)
  }

  @Test("what nobody else decides about is there at once")
  func others() throws {
    let recorder = try makeRecorder()
    let connection: UInt32 = 1
    recorder.connectionOpened(connection, .gateway, .sandbox, topic: nil)
    _ = begin(on: connection, recorder)
    for _ in 0..<Self.count { _ = come(on: connection) }
    recorder.finish()
    #expect(try recorded() == Self.count)
  }
}
