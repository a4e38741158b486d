import Basics
import Capture
import LegacyWire
import Platform
import Transport

/// Sends frames over the binary gateway as a good provider does: in one stream, and after an error again from the frame
/// behind it, on a new connection. Silence counts as success once a fence was answered (`LegacyWindow`).
///
///     idle ─connect→ connecting ─opened→ sending ─fence→ fenced ─closed→ what its successor is, else idle
///       ↑                └─────────closed──────┴→ idle
///       └─ frames wait; with nothing left to do after `finish`: ended
package final class LegacyLane: ReplayLane, ConnectionHandler {
  /// Bytes that may wait to be sent.
  private static let backlog = 256 << 10
  /// Bytes handed to the connection at a time.
  private static let burst = 64 << 10
  /// How often a connection may end without saying anything before its frames count as unanswered.
  private static let attempts = 3

  package let address: SocketAddress
  private let connect: (any ConnectionHandler) throws -> SocketConnection
  /// It ends after its lanes.
  private unowned let owner: any LaneOwner
  private let recordedForm: OutcomeComparison.Form
  private var window = LegacyWindow()
  private var state = State.idle
  private var isFinishing = false
  private var failures = 0

  private enum State {
    case idle
    case connecting(SocketConnection)
    /// What was said on it is an error packet, or its beginning.
    case sending(SocketConnection, received: [UInt8])
    /// Nothing more is sent on it. What takes over when it has ended is idle, connects already, or has opened.
    indirect case fenced(SocketConnection, received: [UInt8], successor: State)
    case ended

    var connection: SocketConnection? {
      switch self {
      case .idle, .ended: nil
      case .connecting(let connection), .sending(let connection, _), .fenced(let connection, _, _): connection
      }
    }

    var isIdle: Bool { if case .idle = self { true } else { false } }
  }

  package init(
    of owner: any LaneOwner, to address: SocketAddress, recordedForm: OutcomeComparison.Form,
    connect: @escaping (any ConnectionHandler) throws -> SocketConnection
  ) {
    (self.owner, self.address, self.recordedForm, self.connect) = (owner, address, recordedForm, connect)
  }

  package var isFull: Bool { window.unsentBytes + (state.connection?.queuedBytes ?? 0) > Self.backlog }
  package var heldBytes: Int { window.heldBytes }

  package func push(_ frame: Span<UInt8>, tag: Int, recorded: CapturedOutcome?) {
    window.append(frame, tag: tag, recorded: recorded)
    if window.unsentBytes > Self.burst || state.isIdle { advance() }
  }

  /// Frames that met silence; their tags follow each other.
  package func push(_ frames: Span<UInt8>, count: Int, tag: Int) {
    window.append(frames, count: count, tag: tag)
    if window.unsentBytes > Self.burst || state.isIdle { advance() }
  }

  /// Sends what waits.
  package func advance() {
    guard window.hasUnsent else { return isFinishing ? askOrEnd() : () }
    switch state {
    case .idle: open()
    case .connecting, .fenced, .ended: break
    case .sending(let connection, _): send(on: connection)
    }
  }

  private func send(on connection: SocketConnection) {
    guard connection.queuedBytes < Self.backlog else { return }
    let (bytes, needsFence) = window.takeBurst(limit: Self.burst)
    connection.sendAtOnce(bytes.span)
    if needsFence { sendFence() }
    connection.notifyWhenDrained()
  }

  package func confirm() {
    if window.hasSent { sendFence() }
  }

  package func finish() {
    isFinishing = true
    advance()
  }

  private func askOrEnd() {
    guard window.isEmpty else { return confirm() }
    let last = state
    // Before the close, which may tell of the end at once.
    state = .ended
    switch last {
    case .ended: return
    case .idle: break
    case .connecting(let connection), .sending(let connection, _): connection.close()
    case .fenced(let connection, _, let successor):
      connection.close()
      successor.connection?.close()
    }
    owner.ended(self)
  }

  private func open() {
    do {
      state = .connecting(try connect(self))
    } catch {
      owner.failed(self, "\(error)")
    }
  }

  private func sendFence() {
    guard case .sending(let connection, let received) = state else { return }
    state = .fenced(connection, received: received, successor: .idle)
    connection.send(window.makeFence())
    guard !isFinishing || window.hasUnsent else { return }
    // Where this fails, `open` tells of it when the time has come.
    guard let next = try? connect(self), case .fenced(connection, let received, .idle) = state else { return }
    state = .fenced(connection, received: received, successor: .connecting(next))
  }

  // MARK: Connection

  package func connectionOpened(_ connection: SocketConnection) {
    switch state {
    case .connecting(connection):
      state = .sending(connection, received: [])
      advance()
    case .fenced(let current, let received, .connecting(connection)):
      state = .fenced(current, received: received, successor: .sending(connection, received: []))
    case .idle, .connecting, .sending, .fenced, .ended: break
    }
  }

  package func connectionDrained(_ connection: SocketConnection) {
    advance()
    owner.progressed()
  }

  package func connection(_ connection: SocketConnection, received bytes: Span<UInt8>) {
    var said = [UInt8](bytes.prefix(LegacyErrorPacket.byteCount))
    switch state {
    case .sending(connection, let earlier):
      said = earlier + said
      state = .sending(connection, received: said)
    case .fenced(connection, let earlier, let successor):
      said = earlier + said
      state = .fenced(connection, received: said, successor: successor)
    case .idle, .connecting, .sending, .fenced, .ended:
      return connection.abort("the gateway sent something unexpected")
    }
    // The packet is the last that is said.
    if said.count >= LegacyErrorPacket.byteCount { connection.abort("answered") }
  }

  package func connectionClosed(_ connection: SocketConnection, reason: String) {
    switch state {
    case .connecting(connection):
      state = .idle
      guard window.isEmpty else { return owner.failed(self, reason) }
      ended([], reason)
    case .sending(connection, let received):
      state = .idle
      ended(received, reason)
    case .fenced(connection, let received, let successor):
      state = successor
      ended(received, reason)
    case .fenced(let current, let received, let successor):
      guard successor.connection === connection else { return }
      state = .fenced(current, received: received, successor: .idle)
    case .idle, .connecting, .sending, .ended: break
    }
  }

  private func ended(_ received: [UInt8], _ reason: String) {
    let packet = LegacyErrorPacket(bytes: Array(received.prefix(LegacyErrorPacket.byteCount)))
    let hasLearnt = window.connectionEnded(packet, told)
    owner.silences(window.takeSilences())
    if hasLearnt {
      failures = 0
    } else {
      failures += 1
      if failures >= Self.attempts { giveUp(reason) }
    }
    advance()
    owner.progressed()
  }

  private func told(_ settled: LegacyWindow.Settled) { tell(settled, settled.outcome) }

  private func tell(
    _ settled: LegacyWindow.Settled, _ outcome: CapturedOutcome?, failure: String = ""
  ) {
    owner.settled(
      ReplayedPush(
        tag: settled.tag, identifier: settled.identifier, recorded: settled.recorded,
        recordedForm: recordedForm, outcome: outcome, form: .legacy, failure: failure))
  }

  /// One frame is given up, so that the others get their chance.
  private func giveUp(_ reason: String) {
    failures = 0
    _ = window.takeBurst(limit: 1)
    window.giveUp(.silence) { tell($0, nil, failure: reason) }
  }
}

/// In patterns a connection is itself.
private func ~= (pattern: SocketConnection, connection: SocketConnection) -> Bool { pattern === connection }
