import Basics
import CourierWire
import PushModel
import Testing

/// Every input in every state, then the rules that span several inputs.
@Suite("Courier server session")
struct CourierServerSessionTests {
  typealias Session = CourierServerSession

  enum State: CaseIterable {
    case awaitingConnect, verifying, established, verifyingAnother, closed
  }

  static let start = Instant(nanoseconds: 5_000_000_000)
  static let date = Timestamp(seconds: 1_700_000_000)
  static let baseToken = DeviceToken(loading: 1)
  static let otherToken = DeviceToken(loading: 2)
  static let request = ConnectRequest()

  static func session(in state: State) -> Session {
    var session = Session(acceptedAt: start)
    guard state != .awaitingConnect else { return session }
    _ = session.receive(request, at: start)
    guard state != .verifying else { return session }
    _ = session.identityAccepted(request, baseToken: baseToken, tokenWasKnown: false, at: start, date: date)
    if state == .verifyingAnother { _ = session.receive(request, at: start) }
    if state == .closed { session.connectionClosed() }
    return session
  }

  /// What each state answers to a frame.
  private func expect(
    _ frame: [UInt8], _ expected: [State: Session.FrameAction], at location: SourceLocation = #_sourceLocation
  ) throws {
    for state in State.allCases {
      var session = Self.session(in: state)
      let wasClosed = session.isClosed
      let action = try withFrame(frame) { session.frameReceived($0, at: Self.start) }
      #expect(action == expected[state], "\(state)", sourceLocation: location)
      let closes = if case .close = action { true } else { false }
      #expect(session.isClosed == (wasClosed || closes), "\(state)", sourceLocation: location)
    }
  }

  private func expectEverywhere(
    _ frame: [UInt8], _ action: Session.FrameAction, at location: SourceLocation = #_sourceLocation
  ) throws {
    var expected = Dictionary(uniqueKeysWithValues: State.allCases.map { ($0, action) })
    expected[.closed] = .nothing
    try expect(frame, expected, at: location)
  }

  /// A command that only an accepted identity may send.
  private func expectOnlyConnected(
    _ frame: [UInt8], _ command: CourierCommand, _ action: Session.FrameAction,
    at location: SourceLocation = #_sourceLocation
  ) throws {
    let tooEarly = Session.FrameAction.close(.commandBeforeConnect(command.rawValue))
    try expect(
      frame,
      [
        .awaitingConnect: tooEarly, .verifying: tooEarly, .established: action, .verifyingAnother: action,
        .closed: .nothing,
      ], at: location)
  }

  @Test("connect is verified, one at a time")
  func connect() throws {
    try expect(
      Self.request.encoded,
      [
        .awaitingConnect: .verify(Self.request), .verifying: .close(.connectWhileVerifying),
        .established: .verify(Self.request), .verifyingAnother: .close(.connectWhileVerifying),
        .closed: .nothing,
      ])
  }

  @Test("filter replaces the topics of the identity that it names, or of the first")
  func filter() throws {
    let update = FilterUpdate(baseToken: Self.baseToken, enabled: [try topicHash("com.example.app")])
    try expectOnlyConnected(update.encoded, .filter, .replaceFilter(update, of: Self.baseToken))
    let unnamed = FilterUpdate(baseToken: nil)
    try expectOnlyConnected(unnamed.encoded, .filter, .replaceFilter(unnamed, of: Self.baseToken))
    try expectOnlyConnected(FilterUpdate(baseToken: Self.otherToken).encoded, .filter, .nothing)
  }

  @Test("app token is provided, and refused to a token that is not connected here")
  func appToken() throws {
    let topic = try topicHash("com.example.app")
    let request = AppTokenRequest(baseToken: Self.baseToken, topic: topic)
    try expectOnlyConnected(request.encoded, .appTokenRequest, .provideToken(request, for: Self.baseToken))
    let foreign = AppTokenRequest(baseToken: Self.otherToken, topic: topic)
    let refusal = AppTokenResponse(answering: foreign, with: nil).encoded
    try expectOnlyConnected(foreign.encoded, .appTokenRequest, .send(refusal))
  }

  @Test("acknowledgement is the owner's to read")
  func acknowledgement() throws {
    try expectEverywhere(Vectors.acknowledgement, .nothing)
    try expectEverywhere(bytes("0b 00000002 0500"), .nothing)
  }

  @Test("keep-alive is answered at once, with whatever it carries")
  func keepAlive() throws {
    try expectEverywhere(Vectors.keepAlive, .send(Vectors.keepAliveAnswer))
    try expectEverywhere(bytes("0c 00000002 0500"), .send(Vectors.keepAliveAnswer))
  }

  @Test("a message from the device is acknowledged, status first")
  func upstream() throws {
    let message = UpstreamMessage(
      topic: try topicHash("com.example.app"), baseToken: Self.baseToken, payload: [1], messageId: 7)
    try expectOnlyConnected(
      message.encoded, .message, .send(bytes("0b 0000000b 08 0001 00 04 0004 00000007")))
  }

  @Test("channels are subscribed by a connected identity only")
  func channels() throws {
    let entry = ChannelSubscription.TopicEntry(topic: "com.example.app", join: [CourierChannel(id: [1])])
    let own = ChannelSubscription(index: 3, entries: [entry], baseToken: Self.baseToken)
    try expectOnlyConnected(own.encoded, .channels, .subscribe(own))
    let foreign = ChannelSubscription(index: 3, entries: [entry], baseToken: Self.otherToken)
    let refusal = ChannelConfirmation(index: 3, baseToken: Self.otherToken, status: 1)
    try expectOnlyConnected(foreign.encoded, .channels, .send(refusal.encoded))
  }

  @Test(
    "what is unknown, or only a server says, is skipped unread",
    arguments: [
      0x01, 0x08, 0x0d, 0x0e, 0x0f, 0x10, 0x12, 0x13, 0x14, 0x16, 0x17, 0x19, 0x1e, 0x20, 0x70, 0x71, 0x72,
      0xff,
    ])
  func skipped(command: Int) throws {
    try expectEverywhere([UInt8(command)] + bytes("00000002 0500"), .nothing)
  }

  @Test(
    "a command that is read and cannot be ends the connection",
    arguments: [CourierCommand.connect, .filter, .appTokenRequest, .message, .channels])
  func malformed(command: CourierCommand) throws {
    let error = Session.FrameAction.close(.protocolError(CourierProtocolError(.itemOverrun, "")))
    try expectEverywhere([command.rawValue] + bytes("00000002 0500"), error)
  }

  @Test("bytes that are no frames end the connection")
  func undecodable() {
    for state in State.allCases {
      var session = Self.session(in: state)
      let error = CourierProtocolError(.frameTooLong, "")
      #expect(session.decodingFailed(error) == .close(.protocolError(error)))
      #expect(session.isClosed == true)
    }
  }
}

extension DeviceToken {
  /// A token that differs from others by one word.
  init(loading word: UInt64) {
    self.init()
    words = (word, word, word, word)
  }
}

/// The hash of a topic written as text.
func topicHash(_ name: String) throws -> TopicHash { TopicHash(try #require(Topic(name))) }

extension CourierServerSession {
  /// Feeds a command as its frame.
  mutating func receive(_ value: some CourierCommandValue, at now: Instant) -> FrameAction {
    let frame = value.encoded
    let body = frame.span.dropping(CourierLimits.headerByteCount)
    return frameReceived(CourierFrame(commandByte: frame[0], body: body), at: now)
  }
}
