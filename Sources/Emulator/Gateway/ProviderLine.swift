import Faults
import LegacyWire
import Platform
import PushModel
import Transport

/// The provider's end of a gateway connection: whether it is read from, and how it ends.
///
///     open ─ the provider ends its side, or its certificate is revoked ─→ heard all ─ all is answered ───→ ending
///      ├──── a rejection, and all before it accepted ─→ the error packet ────────────────────────────────↗  ↑
///      ├──── the emulator ends ─→ leaving ─ no verdict is outstanding ─→ status 10, if it has taken any ─↗  │
///      └──── a fault breaks it, without a word ─────────────────────────────────────────────────────────────┘
///
/// The provider may go from each of them: what it sent goes on without it.
final class ProviderLine {
  private enum Stage { case open, heardAll, leaving, ending }

  private var stage = Stage.open
  /// nil once the provider has gone.
  private(set) var connection: SocketConnection?
  /// A device is behind.
  private var isSlowedDown = false

  init(_ connection: SocketConnection) { self.connection = connection }

  /// Whether what comes is looked at.
  var takesFrames: Bool { stage == .open || stage == .heardAll }
  var isLeaving: Bool { stage == .leaving }
  var isOpen: Bool { connection?.isOpen ?? false }
  var isGone: Bool { connection == nil }

  // MARK: Back-pressure

  /// Answers false if it is slowed down already.
  func slowDown() -> Bool {
    defer { isSlowedDown = true }
    return !isSlowedDown
  }

  func speedUp() { isSlowedDown = false }

  /// While frames wait the provider is not read from, so it feels the pace of whoever takes its pushes through TCP.
  func read(whileWaiting waits: Bool) { connection?.setPaused(isSlowedDown || waits && takesFrames) }

  /// Counts what waits as memory, in bytes.
  func hold(_ bytes: Int) { connection?.hold(bytes) }

  // MARK: The end

  /// Nothing more is looked at; answers false if that was so before.
  @discardableResult
  func hearNoMore() -> Bool {
    guard stage == .open else { return false }
    stage = .heardAll
    return true
  }

  /// No frame is taken any more: there is something to tell first.
  func beginEnding() { stage = .ending }

  /// The error packet leaves after the turn's commit, in one write and an orderly end. A bad command 0 gets no packet
  /// (`Documentation/binary-protocol.md#error-packet`).
  func tell<Undo>(_ ending: VerdictWindow<Undo>.Ending) {
    if ending.command != LegacyCommand.simple.rawValue {
      connection?.send(LegacyErrorPacket(status: ending.status, identifier: ending.identifier).bytes)
    }
    if ending.halfCloses { connection?.halfClose() } else { connection?.close() }
  }

  /// False if there is nobody to be told anything.
  func beginLeaving() -> Bool {
    guard isOpen else { return false }
    stage = .leaving
    return true
  }

  /// Everything up to the last accepted notification went through (`Documentation/binary-protocol.md#statuses`, 10).
  func leave(lastAccepted: UInt32?) {
    if let lastAccepted {
      connection?.send(
        LegacyErrorPacket(status: Rejection.shutdown.legacyStatus, identifier: lastAccepted).bytes)
    }
    stage = .ending
    connection?.close()
  }

  /// All that it sent is answered.
  func answeredAll() { if stage == .heardAll { connection?.close() } }

  /// The connection goes wrong, and nothing more can be said on it.
  func goWrong(_ breakage: FaultBreakage) {
    let broken = connection
    connection = nil
    broken?.goWrong(breakage)
  }

  /// The provider has gone.
  func closed() { connection = nil }
}
