import PushModel

/// A client's side of one device connection, from the open transport to its end.
///
/// ```
///           connect              connected, status 0
///  opened ─────────→ connecting ────────────────────→ connected ⟲ token answers, notifications, keep-alive
///     │                  │                                │
///     └──────────┬───────┴──────────────┬─────────────────┘
///                ↓ end of transport     ↓ refused, unanswered, broken rule
///              closed
/// ```
///
/// It keeps at most one app-token request on its way: answers name only a topic, and one known client takes the first answer
/// for its own (`Documentation/device-protocol.md#quiet-after-an-answer`). Nobody's memory of the connection outlives
/// it: base token and apps are kept by the owner.
public struct CourierClientSession {
  var state = State.opened
  /// The first is on its way, the others wait for its answer. (Outside the state, like `recent`, so that neither is copied
  /// with it.)
  var tokenRequests: [AppTokenRequest] = []
  var recent = RecentMessages()
  private let keepAliveNanoseconds: Int64

  public init(keepAliveNanoseconds: Int64 = CourierLimits.keepAliveNanoseconds) {
    self.keepAliveNanoseconds = max(keepAliveNanoseconds, 1)
  }

  enum State {
    case opened
    case connecting(answerBy: Instant)
    case connected(Connected)
    case closed
  }

  struct Connected {
    /// When the next keep-alive is due.
    var keepAliveAt: Instant
    /// Until when anything has to be heard, after a keep-alive.
    var answerBy: Instant?
  }

  /// Why the client ends the connection.
  public enum CloseReason: Equatable, Sendable, CustomStringConvertible {
    case protocolError(CourierProtocolError)
    /// The server does not accept the identity or the token.
    case refused(status: UInt8)
    /// No answer in time.
    case unanswered(CourierCommand)

    public var description: String {
      switch self {
      case .protocolError(let error): "the server broke the protocol: \(error)"
      case .refused(let status): "the server refused the connection with status \(status)"
      case .unanswered(let command): "\(command) was not answered"
      }
    }
  }

  public var isConnected: Bool {
    if case .connected = state { true } else { false }
  }

  public var isClosed: Bool {
    if case .closed = state { true } else { false }
  }

  /// When `timePassed` should be called next; nil when there is nothing to wait for.
  public var nextWake: Instant? {
    switch state {
    case .connecting(let answerBy): answerBy
    case .connected(let connected): min(connected.keepAliveAt, connected.answerBy ?? connected.keepAliveAt)
    case .opened, .closed: nil
    }
  }

  /// The transport is open: says who we are. Empty if that has been said.
  public mutating func connect(_ request: ConnectRequest, at now: Instant) -> [UInt8] {
    guard case .opened = state else { return [] }
    state = .connecting(answerBy: now.adding(nanoseconds: CourierLimits.answerNanoseconds))
    return request.encoded
  }

  /// Asks for tokens one after the other; what is to be written now, perhaps nothing. Nothing when not connected.
  public mutating func requestTokens(_ requests: [AppTokenRequest]) -> [UInt8] {
    guard isConnected else { return [] }
    let isIdle = tokenRequests.isEmpty
    tokenRequests += requests
    return isIdle ? tokenRequests.first?.encoded ?? [] : []
  }

  /// A command that needs no answer; empty when not connected.
  public func command(_ value: some CourierCommandValue) -> [UInt8] { isConnected ? value.encoded : [] }

  /// What time asks for.
  public enum TimeAction: Equatable {
    case nothing
    case send([UInt8])
    case close(CloseReason)
  }

  /// The clock has moved.
  public mutating func timePassed(at now: Instant) -> TimeAction {
    switch state {
    case .connecting(let answerBy) where now >= answerBy: return giveUp(on: .connect)
    case .connected(let connected) where now >= connected.answerBy ?? now.adding(nanoseconds: 1):
      return giveUp(on: .keepAlive)
    case .connected(var connected) where now >= connected.keepAliveAt:
      connected.keepAliveAt = now.adding(nanoseconds: keepAliveNanoseconds)
      connected.answerBy = connected.answerBy ?? now.adding(nanoseconds: CourierLimits.answerNanoseconds)
      state = .connected(connected)
      return .send(KeepAlive().encoded)
    case .opened, .connecting, .connected, .closed: return .nothing
    }
  }

  private mutating func giveUp(on command: CourierCommand) -> TimeAction {
    state = .closed
    return .close(.unanswered(command))
  }

  /// The transport has ended, or the owner ends it.
  public mutating func connectionClosed() { state = .closed }

  func connected(at now: Instant) -> Connected {
    Connected(keepAliveAt: now.adding(nanoseconds: keepAliveNanoseconds))
  }
}
