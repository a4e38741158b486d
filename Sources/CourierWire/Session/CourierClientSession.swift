import Basics

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
  private var state = State.opened
  /// The first is on its way, the others wait for its answer. (Outside the state, like `recent`, so that neither is copied
  /// with it.)
  private var tokenRequests: [AppTokenRequest] = []
  private var recent = RecentMessages()
  private let keepAliveNanoseconds: Int64

  public init(keepAliveNanoseconds: Int64 = CourierLimits.keepAliveNanoseconds) {
    self.keepAliveNanoseconds = max(keepAliveNanoseconds, 1)
  }

  private enum State {
    case opened
    case connecting(answerBy: Instant)
    case connected(Connected)
    case closed
  }

  private struct Connected {
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

  private func connected(at now: Instant) -> Connected {
    Connected(keepAliveAt: now.adding(nanoseconds: keepAliveNanoseconds))
  }

  // MARK: Frames

  /// What a frame means to the owner.
  public enum FrameAction: Equatable {
    case nothing
    /// The server knows us; a token in it replaces the remembered one.
    case connected(ConnectedResponse)
    /// A token, or none. Write `next`, which may be empty.
    case tokenAnswered(AppTokenResponse, for: AppTokenRequest, next: [UInt8])
    /// A notification. Write the acknowledgement in any case; a repeated one has been seen on this connection.
    case notification(CourierMessage, acknowledgement: [UInt8], isRepeated: Bool)
    /// Nothing is stored for us.
    case nothingStored
    case appStateChanged(AppStateChange)
    /// Something for the phone, if the client said that it has one.
    case phoneOrdered(PhoneOrderCommand)
    case channelsConfirmed(ChannelConfirmation)
    /// End the connection.
    case close(CloseReason)
  }

  /// What the next frame in `input` means; nil when all of that is used up.
  public mutating func next(
    _ decoder: inout CourierDecoder, _ input: inout Span<UInt8>, at now: Instant
  ) -> FrameAction? {
    do throws(CourierProtocolError) {
      return try decoder.next(&input, limit: CourierLimits.frameAfterConnect) { frameReceived($0, at: now) }
    } catch {
      return decodingFailed(error)
    }
  }

  /// A whole frame has arrived.
  public mutating func frameReceived(_ frame: CourierFrame, at now: Instant) -> FrameAction {
    do throws(CourierProtocolError) {
      switch state {
      case .connecting: return try connectAnswered(frame, at: now)
      case .connected(var connected):
        connected.answerBy = nil
        state = .connected(connected)
        return try read(frame)
      case .opened, .closed: return .nothing
      }
    } catch {
      return decodingFailed(error)
    }
  }

  /// The bytes could not be cut into frames.
  public mutating func decodingFailed(_ error: CourierProtocolError) -> FrameAction {
    state = .closed
    return .close(.protocolError(error))
  }

  private mutating func connectAnswered(
    _ frame: CourierFrame, at now: Instant
  ) throws(CourierProtocolError) -> FrameAction {
    guard frame.command == .connected else { return .nothing }
    let response = try ConnectedResponse(frame)
    guard response.status == ConnectedResponse.statusAccepted else {
      state = .closed
      return .close(.refused(status: response.status))
    }
    state = .connected(connected(at: now))
    return .connected(response)
  }

  private mutating func read(_ frame: CourierFrame) throws(CourierProtocolError) -> FrameAction {
    switch frame.command {
    case .message: return notification(try CourierMessage(frame))
    case .appTokenResponse: return tokenAnswered(try AppTokenResponse(frame))
    case .noStorage: return .nothingStored
    case .appState: return .appStateChanged(try AppStateChange(frame))
    case .phoneOrder: return .phoneOrdered(try PhoneOrderCommand(frame))
    case .channels: return .channelsConfirmed(try ChannelConfirmation(frame))
    default: return .nothing
    }
  }

  private mutating func notification(_ message: CourierMessage) -> FrameAction {
    let acknowledgement = Acknowledgement(messageId: message.messageId, token: message.token)
    let isRepeated = !recent.insert(message.messageId)
    return .notification(message, acknowledgement: acknowledgement.encoded, isRepeated: isRepeated)
  }

  /// An answer nobody asked for, or for another topic than asked, is none.
  private mutating func tokenAnswered(_ response: AppTokenResponse) -> FrameAction {
    guard let request = tokenRequests.first, response.topic ?? request.topic == request.topic else {
      return .nothing
    }
    tokenRequests.removeFirst()
    let next = tokenRequests.first?.encoded ?? []
    return .tokenAnswered(response, for: request, next: next)
  }
}

/// The last message ids of a connection.
struct RecentMessages {
  private var ids: Set<UInt32> = []
  private var order = FIFO<UInt32>()

  /// Remembers `id`; false if it is remembered already. Forgets the oldest when there are too many.
  mutating func insert(_ id: UInt32) -> Bool {
    guard ids.insert(id).inserted else { return false }
    order.append(id)
    if order.count > CourierLimits.rememberedMessages { ids.remove(order.removeFirst()) }
    return true
  }
}
