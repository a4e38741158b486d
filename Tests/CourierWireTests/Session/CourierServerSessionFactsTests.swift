import CourierWire
import PushModel
import Testing

@Suite("Courier server session: verdicts, limits and time")
struct CourierServerSessionFactsTests {
  typealias Session = CourierServerSession
  typealias Table = CourierServerSessionTests

  private let start = Table.start
  private let date = Table.date
  private let token = Table.baseToken
  private let other = Table.otherToken
  private let request = Table.request

  private func connected(_ token: DeviceToken?, _ status: UInt8 = 0) -> [UInt8] {
    ConnectedResponse(status: status, baseToken: token, at: date).encoded
  }

  @Test("an accepted identity is told its token unless it knew it; without a pending connect nothing happens")
  func accepted() {
    for state in Table.State.allCases {
      for wasKnown in [true, false] {
        var session = Table.session(in: state)
        let action = session.identityAccepted(
          request, baseToken: other, tokenWasKnown: wasKnown, at: start, date: date)
        switch state {
        case .verifying, .verifyingAnother:
          #expect(action == .send(connected(wasKnown ? nil : other)))
          #expect(session.identities == (state == .verifying ? [other] : [token, other]))
        default: #expect(action == .nothing)
        }
      }
    }
  }

  @Test("a refused identity is told status 2 and the connection ends, also for the others on it")
  func refused() {
    for state in Table.State.allCases {
      var session = Table.session(in: state)
      let action = session.identityRefused(date: date)
      let isPending = state == .verifying || state == .verifyingAnother
      #expect(action == (isPending ? .sendAndClose(connected(nil, 2), .identityRefused) : .nothing))
      #expect(session.isClosed == (isPending || state == .closed))
    }
  }

  @Test("a further identity that belongs elsewhere is told status 2, and the others on the connection stay")
  func declined() {
    for state in Table.State.allCases {
      var session = Table.session(in: state)
      let wasClosed = session.isClosed
      let action = session.identityDeclined(at: start, date: date)
      guard state == .verifyingAnother else {
        #expect(action == .nothing && session.isClosed == wasClosed)
        continue
      }
      #expect(action == .send(connected(nil, 2)))
      #expect(session.identities == [token] && session.isEstablished)
      #expect(session.receive(request, at: start) == .verify(request), "the next may come")
    }
  }

  @Test("connects without end close the connection, and those of ten minutes ago don't count")
  func connects() {
    var session = Table.session(in: .verifyingAnother)
    var now = start
    // One has been received to get here.
    for _ in 2..<CourierLimits.connectsPerConnection {
      _ = session.identityAccepted(request, baseToken: token, tokenWasKnown: true, at: now, date: date)
      #expect(session.receive(request, at: now) == .verify(request))
    }
    _ = session.identityAccepted(request, baseToken: token, tokenWasKnown: true, at: now, date: date)
    now = start.adding(nanoseconds: CourierLimits.connectsNanoseconds)
    #expect(session.receive(request, at: now) == .verify(request))
    for _ in 2..<CourierLimits.connectsPerConnection {
      _ = session.identityAccepted(request, baseToken: token, tokenWasKnown: true, at: now, date: date)
      #expect(session.receive(request, at: now) == .verify(request))
    }
    _ = session.identityAccepted(request, baseToken: token, tokenWasKnown: true, at: now, date: date)
    #expect(session.receive(request, at: now) == .close(.tooManyConnects))
    let isClosed = session.isClosed
    #expect(isClosed)
  }

  @Test("the same identity may connect again; more than sixteen are too many")
  func identities() {
    var session = Table.session(in: .verifyingAnother)
    _ = session.identityAccepted(request, baseToken: token, tokenWasKnown: true, at: start, date: date)
    #expect(session.identities == [token])
    for number in 2...CourierLimits.identitiesPerConnection {
      #expect(session.receive(request, at: start) == .verify(request))
      _ = session.identityAccepted(
        request, baseToken: DeviceToken(loading: UInt64(number)), tokenWasKnown: true, at: start, date: date)
    }
    #expect(session.identities.count == CourierLimits.identitiesPerConnection)
    _ = session.receive(request, at: start)
    let action = session.identityAccepted(
      request, baseToken: DeviceToken(loading: 99), tokenWasKnown: true, at: start, date: date)
    #expect(action == .sendAndClose(connected(nil, 2), .tooManyIdentities))
    #expect(session.isClosed == true)
  }

  @Test("filters of several identities are told apart")
  func severalFilters() {
    var session = Table.session(in: .verifyingAnother)
    _ = session.identityAccepted(request, baseToken: other, tokenWasKnown: true, at: start, date: date)
    let update = FilterUpdate(baseToken: other)
    #expect(session.receive(update, at: start) == .replaceFilter(update, of: other))
  }

  @Test("a stranger has 30 seconds, however much it says; a connected device 30 minutes of silence")
  func deadlines() {
    for state in Table.State.allCases {
      var session = Table.session(in: state)
      let allowed: Int64? =
        switch state {
        case .awaitingConnect, .verifying: CourierLimits.authenticationNanoseconds
        case .established, .verifyingAnother: CourierLimits.idleNanoseconds
        case .closed: nil
        }
      #expect(session.nextDeadline == allowed.map { start.adding(nanoseconds: $0) })
      let late = start.adding(nanoseconds: allowed ?? .max)
      #expect(session.timePassed(at: late.adding(nanoseconds: -1)) == nil)
      let reason: CourierCloseReason? =
        allowed == nil ? nil : session.isEstablished ? .idle : .authenticationTimeout
      #expect(session.timePassed(at: late) == reason)
      #expect(session.isClosed == true)
    }
    #expect(CourierLimits.idleNanoseconds > 25 * 60 * 1_000_000_000)
  }

  @Test("anything received counts against silence, but not against the time to connect")
  func bytesRefresh() {
    let later = start.adding(nanoseconds: 1_000_000_000)
    var session = Table.session(in: .established)
    #expect(session.bytesReceived(1, at: later) == nil)
    #expect(session.nextDeadline == later.adding(nanoseconds: CourierLimits.idleNanoseconds))
    var stranger = Table.session(in: .awaitingConnect)
    #expect(stranger.bytesReceived(1, at: later) == nil)
    #expect(stranger.nextDeadline == start.adding(nanoseconds: CourierLimits.authenticationNanoseconds))
  }

  @Test("a stranger may send 32 KiB in all, a connected device any amount")
  func byteBudget() {
    for state in Table.State.allCases {
      var session = Table.session(in: state)
      #expect(session.bytesReceived(CourierLimits.bytesBeforeConnect, at: start) == nil)
      let isStranger = state == .awaitingConnect || state == .verifying
      #expect(session.bytesReceived(1, at: start) == (isStranger ? .tooManyBytesBeforeConnect : nil))
      #expect(session.isClosed == (isStranger || state == .closed))
    }
  }

  @Test("frames of a stranger are kept short")
  func frameLimit() {
    #expect(Table.session(in: .awaitingConnect).frameLimit == 16 * 1024)
    #expect(Table.session(in: .verifying).frameLimit == 16 * 1024)
    #expect(Table.session(in: .established).frameLimit > 64 * 1024)
  }

  @Test("nothing unsolicited for 20 ms after an answer to connect, app-token request and keep-alive")
  func quiet() throws {
    let topic = try topicHash("com.example.app")
    let tokenRequest = AppTokenRequest(baseToken: token, topic: topic)
    func expectQuiet(
      _ answer: (inout Session, Instant) -> Void, at location: SourceLocation = #_sourceLocation
    ) {
      var session = Table.session(in: .verifyingAnother)
      let now = start.adding(nanoseconds: 1_000_000_000)
      #expect(session.mayPush(at: now) == true, sourceLocation: location)
      answer(&session, now)
      #expect(session.mayPush(at: now.adding(nanoseconds: 19_999_999)) == false, sourceLocation: location)
      #expect(session.mayPush(at: now.adding(nanoseconds: 20_000_000)) == true, sourceLocation: location)
      #expect(session.holdUntil == now.adding(nanoseconds: 20_000_000), sourceLocation: location)
    }
    expectQuiet {
      _ = $0.identityAccepted(request, baseToken: other, tokenWasKnown: false, at: $1, date: date)
    }
    expectQuiet { _ = $0.tokenProvided(other, for: tokenRequest, at: $1) }
    expectQuiet { _ = $0.receive(KeepAlive(), at: $1) }
    expectQuiet { _ = $0.receive(AppTokenRequest(baseToken: DeviceToken(loading: 9), topic: topic), at: $1) }
  }

  @Test("nothing is pushed before connect or after the end")
  func neverPush() {
    for state in [Table.State.awaitingConnect, .verifying, .closed] {
      #expect(Table.session(in: state).mayPush(at: start.adding(nanoseconds: .max)) == false)
    }
  }

  @Test("only a connected client gets an app token, only a simulated device learns of its apps")
  func answersByState() throws {
    let tokenRequest = AppTokenRequest(baseToken: token, topic: try topicHash("com.example.app"))
    let answer = AppTokenResponse(answering: tokenRequest, with: other).encoded
    for state in Table.State.allCases {
      var session = Table.session(in: state)
      let isConnected = session.isEstablished
      #expect(session.tokenProvided(other, for: tokenRequest, at: start) == (isConnected ? answer : []))
      #expect(session.appStateChanged(AppStateChange(.erased)) == nil)
    }
    var ours = request
    ours.simulatedDevice = 1
    var session = Table.session(in: .verifying)
    _ = session.identityAccepted(ours, baseToken: token, tokenWasKnown: true, at: start, date: date)
    #expect(session.appStateChanged(AppStateChange(.erased)) == bytes("70 00000004 02 0001 05"))
    session.connectionClosed()
    #expect(session.appStateChanged(AppStateChange(.erased)) == nil)
  }

  @Test("only one with a phone gets orders, may report, and may do so at length")
  func phones() {
    let (order, report) = (PhoneOrderCommand(number: 1, order: [2]), PhoneReport(number: 1))
    for capability in [nil, ConnectRequest.withoutPhone, ConnectRequest.withPhone, 3] {
      var connect = request
      connect.simulatedDevice = capability
      var session = Table.session(in: .verifying)
      #expect(session.phoneOrdered(order) == nil)
      #expect(session.receive(report, at: start) == .nothing)
      _ = session.identityAccepted(connect, baseToken: token, tokenWasKnown: true, at: start, date: date)
      let hasPhone = capability ?? 0 >= 2
      #expect(session.hasPhone == hasPhone && session.isSimulated == (capability != nil))
      #expect(session.phoneOrdered(order) == (hasPhone ? order.encoded : nil))
      #expect(session.receive(report, at: start) == (hasPhone ? .phoneReported(report) : .nothing))
      #expect(
        session.frameLimit == (hasPhone ? CourierLimits.frameOfPhone : CourierLimits.frameAfterConnect))
      session.connectionClosed()
      #expect(session.phoneOrdered(order) == nil)
    }
  }

  @Test("the hot path reads a receipt and leaves everything else alone")
  func hotPath() throws {
    for state in Table.State.allCases {
      let session = Table.session(in: state)
      let ack = try withFrame(Vectors.acknowledgement) { try session.acknowledgement(in: $0) }
      #expect(ack == (session.isEstablished ? Acknowledgement(messageId: 0x1001) : nil))
      #expect(try withFrame(Vectors.keepAlive) { try session.acknowledgement(in: $0) } == .some(nil))
    }
  }
}
