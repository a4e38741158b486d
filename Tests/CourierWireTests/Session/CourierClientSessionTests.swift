import Basics
import CourierWire
import PushModel
import Testing

/// Every input in every state, then the rules that span several inputs.
@Suite("Courier client session")
struct CourierClientSessionTests {
  typealias Session = CourierClientSession

  enum State: CaseIterable {
    case opened, connecting, connected, closed
  }

  private let start = Instant(nanoseconds: 5_000_000_000)
  private let token = DeviceToken(loading: 1)
  private let second: Int64 = 1_000_000_000

  private var accepted: ConnectedResponse {
    ConnectedResponse(status: 0, baseToken: token, at: Timestamp(seconds: 1_700_000_000))
  }

  private func session(in state: State) -> Session {
    var session = Session()
    guard state != .opened else { return session }
    _ = session.connect(ConnectRequest(), at: start)
    guard state != .connecting else { return session }
    _ = session.receive(accepted, at: start)
    if state == .closed { session.connectionClosed() }
    return session
  }

  private func message(_ id: UInt32) throws -> CourierMessage {
    CourierMessage(token: token, topic: try topicHash("com.example.app"), payload: [1], messageId: id)
  }

  /// What each state answers; nothing where none is given.
  private func expect(
    _ value: some CourierCommandValue, _ expected: [State: Session.FrameAction],
    at location: SourceLocation = #_sourceLocation
  ) {
    for state in State.allCases {
      var session = session(in: state)
      #expect(
        session.receive(value, at: start) == expected[state] ?? .nothing, "\(state)", sourceLocation: location
      )
    }
  }

  @Test("connects once")
  func connect() {
    for state in State.allCases {
      var session = session(in: state)
      let expected = state == .opened ? ConnectRequest().encoded : []
      #expect(session.connect(ConnectRequest(), at: start) == expected)
    }
  }

  @Test("is connected by an answer of status 0, and closed by any other")
  func connected() {
    expect(accepted, [.connecting: .connected(accepted)])
    let refused = ConnectedResponse(status: 2, baseToken: nil, at: Timestamp(seconds: 1_700_000_000))
    expect(refused, [.connecting: .close(.refused(status: 2))])
    var session = session(in: .connecting)
    _ = session.receive(refused, at: start)
    #expect(session.isClosed)
  }

  @Test("acknowledges every message and knows a repeated one")
  func messages() throws {
    let message = try message(7)
    let acknowledgement = Acknowledgement(messageId: 7, token: token).encoded
    expect(
      message,
      [.connected: .notification(message, acknowledgement: acknowledgement, isRepeated: false)])
    var session = session(in: .connected)
    _ = session.receive(message, at: start)
    #expect(
      session.receive(message, at: start)
        == .notification(message, acknowledgement: acknowledgement, isRepeated: true))
  }

  @Test("remembers the last 4096 messages, not all of them")
  func forgets() throws {
    var session = session(in: .connected)
    func isRepeated(_ id: UInt32) throws -> Bool {
      guard case .notification(_, _, let isRepeated) = session.receive(try message(id), at: start) else {
        return true
      }
      return isRepeated
    }
    for id in UInt32(0)..<4096 { #expect(try !isRepeated(id)) }
    #expect(try isRepeated(0))
    #expect(try !isRepeated(100_000))
    #expect(try !isRepeated(0))
    #expect(try isRepeated(2))
  }

  @Test("asks for one token at a time and matches answers by topic")
  func tokens() throws {
    let requests = try ["a", "b", "c"].map { AppTokenRequest(baseToken: token, topic: try topicHash($0)) }
    let answers = requests.map { AppTokenResponse(answering: $0, with: token) }
    for state in State.allCases {
      var session = session(in: state)
      #expect(session.requestTokens(requests) == (state == .connected ? requests[0].encoded : []))
    }
    var session = session(in: .connected)
    #expect(session.receive(answers[0], at: start) == .nothing)
    _ = session.requestTokens([requests[0], requests[1]])
    #expect(session.requestTokens([requests[2]]) == [])
    #expect(session.receive(answers[1], at: start) == .nothing)
    for (index, answer) in answers.enumerated() {
      let next = index < 2 ? requests[index + 1].encoded : []
      #expect(session.receive(answer, at: start) == .tokenAnswered(answer, for: requests[index], next: next))
    }
    #expect(session.requestTokens([requests[0]]) == requests[0].encoded)
  }

  @Test("passes on what concerns its owner, and skips what does not")
  func others() {
    expect(NoStorage(baseToken: token), [.connected: .nothingStored])
    expect(AppStateChange(.erased), [.connected: .appStateChanged(AppStateChange(.erased))])
    let order = PhoneOrderCommand(number: 1, order: [2])
    expect(order, [.connected: .phoneOrdered(order)])
    let confirmation = ChannelConfirmation(index: 1, baseToken: token)
    expect(confirmation, [.connected: .channelsConfirmed(confirmation)])
    expect(KeepAliveAnswer(), [:])
    expect(Acknowledgement(messageId: 1), [:])
    expect(SetState.active, [:])
  }

  @Test("ends when the server breaks the protocol")
  func malformed() throws {
    let error = Session.FrameAction.close(.protocolError(CourierProtocolError(.itemOverrun, "")))
    for command in [CourierCommand.message, .appTokenResponse, .appState, .channels] {
      var session = session(in: .connected)
      let action = try withFrame([command.rawValue] + bytes("00000002 0500")) {
        session.frameReceived($0, at: start)
      }
      #expect(action == error)
      #expect(session.isClosed)
    }
    for state in State.allCases {
      var session = session(in: state)
      #expect(session.decodingFailed(CourierProtocolError(.itemOverrun, "")) == error)
      #expect(session.isClosed)
    }
  }

  @Test("gives up when connect is not answered within 15 s")
  func connectUnanswered() {
    var session = session(in: .connecting)
    #expect(session.nextWake == start.adding(nanoseconds: 15 * second))
    #expect(session.timePassed(at: start.adding(nanoseconds: 15 * second - 1)) == .nothing)
    #expect(session.timePassed(at: start.adding(nanoseconds: 15 * second)) == .close(.unanswered(.connect)))
    #expect(session.isClosed)
  }

  @Test("asks every minute whether the server is there, and gives up after 15 s of silence")
  func keepAlive() {
    var session = session(in: .connected)
    for minute in 1...3 {
      let now = start.adding(nanoseconds: Int64(minute) * 60 * second)
      #expect(session.nextWake == now)
      #expect(session.timePassed(at: now.adding(nanoseconds: -1)) == .nothing)
      #expect(session.timePassed(at: now) == .send(Vectors.keepAlive))
      #expect(session.nextWake == now.adding(nanoseconds: 15 * second))
      #expect(session.receive(KeepAliveAnswer(), at: now) == .nothing)
      #expect(session.timePassed(at: now.adding(nanoseconds: 15 * second)) == .nothing)
    }
    let now = start.adding(nanoseconds: 240 * second)
    _ = session.timePassed(at: now)
    #expect(session.timePassed(at: now.adding(nanoseconds: 15 * second)) == .close(.unanswered(.keepAlive)))
  }

  @Test("takes any frame for a sign of life")
  func anyFrame() {
    var session = session(in: .connected)
    let now = start.adding(nanoseconds: 60 * second)
    _ = session.timePassed(at: now)
    _ = session.receive(NoStorage(baseToken: token), at: now)
    #expect(session.timePassed(at: now.adding(nanoseconds: 15 * second)) == .nothing)
  }

  @Test("does not give up on an unanswered keep-alive later because its own interval is shorter")
  func shortInterval() {
    var session = Session(keepAliveNanoseconds: 5 * second)
    _ = session.connect(ConnectRequest(), at: start)
    _ = session.receive(accepted, at: start)
    for tick in 1...3 {
      #expect(
        session.timePassed(at: start.adding(nanoseconds: Int64(tick) * 5 * second))
          == .send(Vectors.keepAlive))
    }
    #expect(session.timePassed(at: start.adding(nanoseconds: 20 * second)) == .close(.unanswered(.keepAlive)))
  }

  @Test("has nothing to wait for before and after, and no command to give")
  func idleStates() {
    for state in [State.opened, .closed] {
      var session = session(in: state)
      #expect(session.nextWake == nil)
      #expect(session.timePassed(at: start.adding(nanoseconds: .max)) == .nothing)
    }
    for state in State.allCases {
      #expect(
        session(in: state).command(SetState.active) == (state == .connected ? Vectors.setState : []))
    }
  }
}

extension CourierClientSession {
  /// Feeds a command as its frame.
  mutating func receive(_ value: some CourierCommandValue, at now: Instant) -> FrameAction {
    let frame = value.encoded
    let body = frame.span.dropping(CourierLimits.headerByteCount)
    return frameReceived(CourierFrame(commandByte: frame[0], body: body), at: now)
  }
}
