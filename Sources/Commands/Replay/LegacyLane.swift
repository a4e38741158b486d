import Capture
import LegacyWire
import PushModel
import Transport

/// Sends frames over the binary gateway as a good provider does: in one stream, and after an error again from the frame
/// behind it, on a new connection. Silence counts as success once a fence was answered (`LegacyWindow`).
///
///     idle ─→ connecting ─→ sending ─→ fenced ─→ ended ─→ idle
///
/// While a fence is under way its successor connects already.
final class LegacyLane: ReplayLane, ConnectionHandler {
  /// Bytes that may wait to be sent.
  private static let backlog = 256 << 10
  /// Bytes handed to the connection at a time.
  private static let burst = 64 << 10
  /// How often a connection may end without saying anything before its frames count as unanswered.
  private static let attempts = 3

  private let connect: (any ConnectionHandler) throws -> TLSConnection
  private let settle: (ReplayedPush) -> Void
  private let silences: (Int) -> Void
  private let progress: () -> Void
  private let fail: (String) -> Void
  private let recordedForm: OutcomeComparison.Form
  private var window = LegacyWindow()
  private var connection: TLSConnection?
  private var isOpen = false
  /// Takes over when `connection` has ended.
  private var successor: TLSConnection?
  private var successorIsOpen = false
  private var isFenced = false
  private var isFinishing = false
  private var failures = 0
  private var received: [UInt8] = []
  /// Called once, when nothing is left to do after `finish`.
  var onDone: () -> Void = {}

  init(
    recordedForm: OutcomeComparison.Form, connect: @escaping (any ConnectionHandler) throws -> TLSConnection,
    settle: @escaping (ReplayedPush) -> Void, silences: @escaping (Int) -> Void,
    progress: @escaping () -> Void,
    fail: @escaping (String) -> Void
  ) {
    (self.recordedForm, self.connect, self.settle) = (recordedForm, connect, settle)
    (self.silences, self.progress, self.fail) = (silences, progress, fail)
  }

  var isFull: Bool { window.unsentBytes + (connection?.queuedBytes ?? 0) > Self.backlog }
  var heldBytes: Int { window.heldBytes }

  func push(_ frame: UnsafeRawBufferPointer, tag: Int, recorded: CapturedOutcome?) {
    window.append(frame, tag: tag, recorded: recorded)
    if window.unsentBytes > Self.burst || connection == nil { advance() }
  }

  /// Frames that met silence; their tags follow each other.
  func push(_ frames: UnsafeRawBufferPointer, count: Int, tag: Int) {
    window.append(frames, count: count, tag: tag)
    if window.unsentBytes > Self.burst || connection == nil { advance() }
  }

  /// Sends what waits.
  func advance() {
    guard window.hasUnsent else { return isFinishing ? askOrEnd() : () }
    guard let connection else { return open() }
    guard isOpen, !isFenced, connection.queuedBytes < Self.backlog else { return }
    let (bytes, needsFence) = window.takeBurst(limit: Self.burst)
    connection.sendAtOnce(bytes)
    if needsFence { sendFence() }
    connection.notifyWhenDrained()
  }

  func confirm() {
    guard window.hasSent, isOpen, !isFenced else { return }
    sendFence()
  }

  func finish() {
    isFinishing = true
    advance()
  }

  private func askOrEnd() {
    if window.isEmpty {
      connection?.close()
      successor?.close()
      (connection, isOpen, successor, successorIsOpen) = (nil, false, nil, false)
      let done = onDone
      onDone = {}
      done()
    } else {
      confirm()
    }
  }

  private func open() {
    do {
      connection = try connect(self)
    } catch {
      fail("\(error)")
    }
  }

  private func sendFence() {
    isFenced = true
    connection?.send(window.makeFence())
    // Where this fails, `open` tells of it when the time has come.
    if successor == nil, !isFinishing || window.hasUnsent { successor = try? connect(self) }
  }

  private func succeed() {
    (connection, isOpen, successor, successorIsOpen) = (successor, successorIsOpen, nil, false)
    (isFenced, received) = (false, [])
  }

  // MARK: Connection

  func connectionOpened(_ connection: TLSConnection) {
    if connection === successor {
      successorIsOpen = true
    } else {
      isOpen = true
      advance()
    }
  }

  func connectionDrained(_ connection: TLSConnection) {
    advance()
    progress()
  }

  func connection(_ connection: TLSConnection, received bytes: UnsafeRawBufferPointer) {
    guard connection === self.connection else { return connection.abort("said something unasked") }
    received += bytes.prefix(LegacyErrorPacket.byteCount)
    // The packet is the last that is said.
    if received.count >= LegacyErrorPacket.byteCount { connection.abort("answered") }
  }

  func connectionClosed(_ connection: TLSConnection, reason: String) {
    if connection === successor { (successor, successorIsOpen) = (nil, false) }
    guard connection === self.connection else { return }
    let wasOpen = isOpen
    let packet = LegacyErrorPacket(bytes: Array(received.prefix(LegacyErrorPacket.byteCount)))
    succeed()
    if !wasOpen, !window.isEmpty { return fail(reason) }
    let hasLearnt = window.connectionEnded(packet, told)
    silences(window.takeSilences())
    if hasLearnt {
      failures = 0
    } else {
      failures += 1
      if failures >= Self.attempts { giveUp(reason) }
    }
    advance()
    progress()
  }

  private func told(_ settled: LegacyWindow.Settled) {
    settle(
      ReplayedPush(
        tag: settled.tag, identifier: settled.identifier, recorded: settled.recorded,
        recordedForm: recordedForm, outcome: settled.outcome,
        form: .legacy))
  }

  /// One frame is given up, so that the others get their chance.
  private func giveUp(_ reason: String) {
    failures = 0
    _ = window.takeBurst(limit: 1)
    window.giveUp(.silence) {
      settle(
        ReplayedPush(
          tag: $0.tag, identifier: $0.identifier, recorded: $0.recorded, recordedForm: recordedForm,
          outcome: nil, form: .legacy,
          failure: reason))
    }
  }
}
